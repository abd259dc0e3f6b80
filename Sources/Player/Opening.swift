internal import Feed
internal import Sound

/// How an address becomes sound: the seam between what plays and what fetches and decodes.
protocol Opening: Sendable {
    /// Begins to fetch. Does not wait.
    func begin(_ item: QueueItem) throws(StreamError) -> any Downloading

    /// Waits until it is known what it is. `format` is what it is read as.
    func open(_ download: any Downloading, of item: QueueItem, as format: LPCMFormat?) throws(StreamError) -> Opened

    /// How much a download of this bit rate is to keep; nil where that is settled.
    func limits(atBitRate bitRate: Int) -> BufferLimits?
}

/// What lay at an address.
enum Opened {
    case sound(any Reading)
    /// One item at least.
    case playlist([QueueItem])
}
