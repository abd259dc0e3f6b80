internal import TenfourAudioCore
internal import TenfourMediaSource

/// Opens queue items: the player knows nothing else of fetching and decoding.
protocol QueueItemOpener: Sendable {
    /// Starts fetching. Does not block.
    func begin(_ item: QueueItem) throws(StreamError) -> any ByteSource

    /// Blocks until the kind of the resource is known. `format` is that of the decoded audio.
    func open(_ byteSource: any ByteSource, of item: QueueItem, as format: LPCMFormat?) throws(StreamError)
        -> OpenedMedia

    /// The buffer limits for a bit rate; nil if they are fixed.
    func limits(atBitRate bitRate: Int) -> BufferLimits?
}

/// The result of opening an address.
enum OpenedMedia {
    case media(any MediaReader)
    /// At least one entry.
    case playlist([QueueItem])
}
