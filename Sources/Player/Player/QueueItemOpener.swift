internal import TenfourAudioCore
internal import TenfourMediaSource

/// Opens queue items. The player fetches and decodes only through this protocol.
protocol QueueItemOpener: Sendable {
    /// Starts fetching the item's bytes. Does not block.
    func begin(_ item: QueueItem) throws(StreamError) -> any ByteSource

    /// Detects the kind of the resource and opens it. Blocks until enough bytes have arrived. `format` is the format to
    /// decode to; nil: the recording's own.
    func open(_ byteSource: any ByteSource, of item: QueueItem, as format: LPCMFormat?) throws(StreamError)
        -> OpenedMedia

    /// Returns the buffer limits for a bit rate; nil if the limits do not depend on the bit rate.
    func limits(atBitRate bitRate: Int) -> BufferLimits?
}

/// The result of opening an address.
enum OpenedMedia {
    case media(any MediaReader)
    /// A playlist with at least one entry.
    case playlist([QueueItem])
}
