/// The first step: bytes at offsets, from a network or a file, with a bounded number of them in memory.
///
/// `read` is for the one thread that parses; the rest is for any thread.
public protocol Downloading: AnyObject, Sendable {
    var state: DownloadState { get }

    /// Copies the bytes that lie at `offset` into `buffer`, at least one and at most as many as fit; waits until the first is
    /// here. 0 at the end of the bytes. An offset far from what is here has the bytes asked for anew from there, where the other
    /// side can do that.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(DownloadError) -> Int

    /// Has a `read` that waits, and every one after it, throw `.interrupted` until `resume()`: a seek or the end comes before.
    func interrupt()
    func resume()

    /// While it is paused, nothing times out.
    func pause(_ isPaused: Bool)

    /// For good. Returns when nothing of it is left at work.
    func stop()
}

/// How far a download has come.
public struct DownloadState: Sendable {
    public enum Phase: Equatable, Sendable {
        case connecting
        case receiving
        /// As much is here as may be ahead of the reader: more is fetched as it reads on.
        case full
        /// The connection broke and is tried again: the how manieth time.
        case reconnecting(attempt: Int)
        case ended
        case failed(DownloadError)
    }

    public var phase: Phase
    /// Of the whole, where that is known: a live stream has none.
    public var byteCount: Int?
    /// The bytes that are here, from the first that the reader has not had.
    public var available: Range<Int>
    public var isSeekable: Bool
    /// Neither a length nor an end is known, and what broke off goes on from now.
    public var isLive: Bool
    /// As the other side calls it: `audio/mpeg`. Control characters are replaced.
    public var contentType: String?

    public init(
        phase: Phase = .connecting, byteCount: Int? = nil, available: Range<Int> = 0..<0, isSeekable: Bool = false,
        isLive: Bool = false, contentType: String? = nil
    ) {
        self.phase = phase
        self.byteCount = byteCount
        self.available = available
        self.isSeekable = isSeekable
        self.isLive = isLive
        self.contentType = contentType
    }
}

/// Why there are no bytes.
public enum DownloadError: Error, Equatable, Sendable {
    /// `interrupt()` was called.
    case interrupted
    /// A sentence with its remedy.
    case failed(String)
}
