internal import Feed
internal import Sound

/// How an address becomes sound: the seam between what plays and what fetches and decodes.
protocol Opening: Sendable {
    /// Begins to fetch. Does not wait.
    func begin(_ address: String) throws(StreamError) -> any Downloading

    /// Waits until it is known what it is. `format` is what it is read as; nil for its own rate, and its channels where they are
    /// no more than two.
    func open(_ download: any Downloading, named address: String, as format: LPCMFormat?) throws(ReadError) -> any Reading
}
