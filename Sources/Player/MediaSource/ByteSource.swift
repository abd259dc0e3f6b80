/// The first step: bytes at offsets, from a network or a file, with a bounded number of them in memory.
///
/// `read` is for the one thread that parses; the rest is for any thread.
public protocol ByteSource: AnyObject, Sendable {
    /// As it is at this moment. Never waits, and goes on telling how it was when it is stopped.
    var state: ByteSourceState { get }

    /// How many bytes it keeps; may be changed at any time.
    var limits: BufferLimits { get set }

    /// Copies the bytes that lie at `offset` into `buffer`, at least one and at most as many as fit; waits until the first is
    /// here. 0 at the end of the bytes. An offset far from what is here has the bytes asked for anew from there, where the other
    /// side can do that.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int

    /// Keeps all of it from now on, on the disk where it comes but once in its order: what is wanted far ahead is waited for,
    /// and what is gone by can be read again.
    func holdAll()

    /// What a radio station calls the sound that lies at `offset`; control characters are replaced.
    func title(at offset: Int) -> String?

    /// Has a `read` that waits, and every one after it, throw `.interrupted` until `resume()`: a seek or the end comes before.
    func interrupt()
    func resume()

    /// While it is paused, nothing times out.
    func pause(_ isPaused: Bool)

    /// For good. Returns when nothing of it is left at work.
    func stop()
}

extension ByteSource {
    /// None: files say in their own bytes what they are called.
    public func title(at offset: Int) -> String? { nil }

    /// Nothing: a file is all there.
    public func holdAll() {}
}

/// How many bytes a download keeps.
public struct BufferLimits: Equatable, Sendable {
    /// Ahead of the reader, 64 KiB or more. What lies beyond them is left with the other side.
    public var ahead: Int
    /// Behind the reader, so that a short way back needs no new request.
    public var behind: Int

    public init(ahead: Int = 2 << 20, behind: Int = 512 << 10) {
        self.ahead = max(ahead, Self.least)
        self.behind = max(behind, 0)
    }

    /// All that comes, however slowly it is read. It is kept in a file without a name, not in memory; of a live stream 8 MiB are.
    /// What lies far ahead is asked for anew, and what was kept is forgotten then.
    public static var all: Self { Self(ahead: .max, behind: .max) }

    private static let least = 64 << 10
}

/// How far a download has come.
public struct ByteSourceState: Sendable {
    public enum Phase: Equatable, Sendable {
        case connecting
        case receiving
        /// As much is here as may be ahead of the reader: more is fetched as it reads on.
        case full
        /// The connection broke and is tried again: the how manieth time.
        case reconnecting(attempt: Int)
        case ended
        case failed(ByteSourceError)
    }

    public var phase: Phase
    /// Of the whole, where that is known: a live stream has none.
    public var byteCount: Int?
    /// The bytes that are here, from the first that the reader has not had.
    public var available: Range<Int>
    /// The bytes that can be read at once, also again: what the reader has had, as far as it is kept, and `available`.
    public var held: Range<Int>
    /// Any offset costs one request at most.
    public var isSeekable: Bool
    /// What the reader has had can be had again, if only by having all before it sent again.
    public var isRepeatable: Bool
    /// Neither a length nor an end is known, and what broke off goes on from now.
    public var isLive: Bool
    /// As the other side calls it: `audio/mpeg`. Control characters are replaced.
    public var contentType: String?
    /// What a radio station calls itself. Control characters are replaced.
    public var stationName: String?
    /// Where the bytes come from in the end: relative addresses in a playlist begin there.
    public var resource: Resource?

    public init(
        phase: Phase = .connecting, byteCount: Int? = nil, available: Range<Int> = 0..<0, held: Range<Int>? = nil,
        isSeekable: Bool = false,
        isRepeatable: Bool? = nil, isLive: Bool = false, contentType: String? = nil, stationName: String? = nil,
        resource: Resource? = nil
    ) {
        self.phase = phase
        self.byteCount = byteCount
        self.available = available
        self.held = held ?? available
        self.isSeekable = isSeekable
        self.isRepeatable = isRepeatable ?? isSeekable
        self.isLive = isLive
        self.contentType = contentType
        self.stationName = stationName
        self.resource = resource
    }
}

/// Why there are no bytes.
public enum ByteSourceError: Error, Equatable, Sendable {
    /// `interrupt()` or `stop()` was called.
    case interrupted
    /// A sentence with its remedy.
    case failed(String)
}
