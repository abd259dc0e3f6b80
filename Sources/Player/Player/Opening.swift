internal import TenfourAudioCore
internal import TenfourMediaSource

/// How an address becomes sound: the seam between what plays and what fetches and decodes.
protocol Opening: Sendable {
    /// Begins to fetch. Does not wait.
    func begin(_ item: QueueItem) throws(StreamError) -> any ByteSource

    /// Waits until it is known what it is. `format` is what it is read as.
    func open(_ download: any ByteSource, of item: QueueItem, as format: LPCMFormat?) throws(StreamError) -> Opened

    /// How much a download of this bit rate is to keep; nil where that is settled.
    func limits(atBitRate bitRate: Int) -> BufferLimits?
}

/// What lay at an address.
enum Opened {
    case sound(any MediaReader)
    /// One item at least.
    case playlist([QueueItem])
}
