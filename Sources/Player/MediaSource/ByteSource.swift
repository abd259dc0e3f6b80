/// The first of four stages: supplies bytes at any offset, from a network or a file, and keeps a bounded number of them
/// in memory.
///
/// Only the demuxer's thread calls `read`. Any thread may call the rest.
public protocol ByteSource: AnyObject, Sendable {
    /// The state at this moment. Never waits; after `stop` the state no longer changes.
    var state: ByteSourceState { get }

    /// The numbers of bytes to keep ahead of the reader and behind the reader. May be changed at any time.
    var limits: BufferLimits { get set }

    /// Copies the bytes at `offset` into `buffer`: at least one, at most as many as fit. Blocks until the first byte
    /// has arrived. Returns 0 at the end. If `offset` lies far from the buffered bytes, a new request starts at
    /// `offset`, if the server supports this.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int

    /// Keeps all bytes that arrive from now on, in a file on disk, so that they can be read again. If the source cannot
    /// start again at another offset (a pipe, a server without range requests), `read` at a later offset waits until
    /// the bytes have arrived.
    func holdAll()

    /// The title that a radio station sends for the audio at `offset`. Control characters are replaced.
    func title(at offset: Int) -> String?

    /// Makes the present `read` and all later ones throw `.interrupted` until `resume()`. Used when a seek or the end
    /// of playback takes precedence.
    func interrupt()
    func resume()

    /// Records whether playback is paused. During a pause no timeout runs.
    func pause(_ isPaused: Bool)

    /// Stops for good. Returns when no thread works for this source any more.
    func stop()
}

/// The defaults are for sources whose bytes are all at hand, so that `read` never blocks.
extension ByteSource {
    /// No limits. Setting limits has no effect.
    public var limits: BufferLimits {
        get { .all }
        set {}
    }

    /// Does nothing. A source whose `read` may block must implement it.
    public func interrupt() {}

    /// Does nothing. A source whose `read` may block must implement it.
    public func resume() {}

    /// Does nothing: no timeout runs.
    public func pause(_ isPaused: Bool) {}

    /// Does nothing: no thread works for the source.
    public func stop() {}

    /// Returns nil: a file carries its title in its own bytes.
    public func title(at offset: Int) -> String? { nil }

    /// Does nothing: all bytes of a file are available.
    public func holdAll() {}
}

/// The number of bytes that a byte source buffers.
public struct BufferLimits: Equatable, Sendable {
    /// The number of bytes to buffer ahead of the reader, at least 64 KiB. When they are buffered, the server has to
    /// wait before it sends more.
    public var ahead: Int
    /// The number of bytes to keep behind the reader, so that a short seek back needs no new request.
    public var behind: Int

    public init(ahead: Int = 2 << 20, behind: Int = 512 << 10) {
        self.ahead = max(ahead, Self.least)
        self.behind = max(behind, 0)
    }

    /// Keeps all bytes that arrive, in an unnamed file instead of memory. Of a live stream the last 8 MiB are kept. A
    /// seek far ahead starts a new request and drops the bytes kept until then.
    public static var all: Self { Self(ahead: .max, behind: .max) }

    private static let least = 64 << 10
}

/// The progress of a byte source.
public struct ByteSourceState: Sendable {
    public enum Phase: Equatable, Sendable {
        case connecting
        case receiving
        /// The buffer ahead of the reader is full. More is fetched as the reader advances.
        case full
        /// The connection broke and is being retried. `attempt` counts from 1.
        case reconnecting(attempt: Int)
        case ended
        case failed(ByteSourceError)
    }

    public var phase: Phase
    /// The total size in bytes; nil if it is unknown, as for a live stream.
    public var byteCount: Int?
    /// The range of offsets of the buffered bytes that the reader has not read yet.
    public var available: Range<Int>
    /// The range of offsets of all buffered bytes, including those behind the reader.
    public var held: Range<Int>
    /// Whether any offset can be reached with one request.
    public var isSeekable: Bool
    /// Whether the reader can go back to bytes that it has read. Everything before these bytes may have to be fetched
    /// again.
    public var isRepeatable: Bool
    /// Whether the stream has neither a known length nor an end. After a broken connection it continues with the audio
    /// that is sent then.
    public var isLive: Bool
    /// The media type that the server states, such as `audio/mpeg`. Control characters are replaced.
    public var contentType: String?
    /// The headers of the server's answer, after all redirects, in their order and at most 64; empty if the bytes come
    /// from no server.
    public var headers: [ResponseHeader] = []
    /// The name of the radio station. Control characters are replaced.
    public var stationName: String?
    /// The range of positions between which a live stream can be sought; nil if it has none.
    public var window: Range<Duration>?
    /// The range of positions that were fetched and not read yet; nil if it is known in bytes only.
    public var downloaded: Range<Duration>?
    /// The resource after all redirects. Relative addresses in a playlist are resolved against it.
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

/// The reason why no bytes are available.
public enum ByteSourceError: Error, Equatable, Sendable {
    /// `interrupt()` or `stop()` was called.
    case interrupted
    /// Reading failed; the text is a sentence for people that includes the remedy.
    case failed(String, kind: MediaErrorKind = .other)
}
