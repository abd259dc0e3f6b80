public import TenfourMediaSource

/// Fetches an `http://` or `https://` address.
///
/// A broken connection is retried for `HTTPOptions.giveUpAfter`. The download then continues at the next missing byte,
/// or for a radio station at the current moment. If the first connection fails, it is not retried.
public final class HTTPByteSource: PeekableByteSource {
    private let window: SharedWindow
    private let fetch: HTTPFetch
    private let loop: HTTPLoop
    private let ownsLoop: Bool

    /// Starts fetching. Sources played in sequence should share a `loop`, so that each can reuse the connection of the
    /// source before; if `loop` is nil, the source creates its own. Throws if the address is invalid or libcurl is not
    /// installed.
    ///
    /// If `range` is given, only these bytes of the address are fetched; they keep their offsets, and the end of the
    /// range is the end of the source.
    public init(
        _ address: String, options: HTTPOptions = HTTPOptions(), limits: BufferLimits = BufferLimits(),
        range: Range<Int>? = nil, on loop: HTTPLoop? = nil
    ) throws(ByteSourceError) {
        let resource: Resource
        do throws(ResourceError) { resource = try Resource(address) } catch {
            throw .failed(error.description, kind: error.kind)
        }
        guard case .http = resource else {
            throw .failed(
                "\(resource) is not a web address; write one as https://host/path", kind: .unsupportedScheme)
        }
        try loadCurl()
        ownsLoop = loop == nil
        self.loop = if let loop { loop } else { try HTTPLoop() }
        window = SharedWindow(ByteSourceState(resource: resource), limits: limits, from: range?.lowerBound ?? 0)
        fetch = HTTPFetch(resource, options, into: window, upTo: range?.upperBound)
        if !self.loop.perform({ [fetch] thread in fetch.start(on: thread) }) { window.stop() }
    }

    deinit {
        loop.perform { [fetch] _ in fetch.stop() }
        if ownsLoop { loop.stop() }
    }

    public var state: ByteSourceState { window.state }

    public var limits: BufferLimits {
        get { window.limits }
        set {
            window.limits = newValue
            demand()
        }
    }

    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        try unsafe window.read(at: offset, into: buffer, demand: demand)
    }

    package func peek(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int? {
        try unsafe window.peek(at: offset, into: buffer)
    }

    public func holdAll() {
        window.holdAll()
        demand()
    }

    public func title(at offset: Int) -> String? { window.title(at: offset) }

    public func interrupt() { window.interrupt(true) }
    public func resume() { window.interrupt(false) }
    public func pause(_ isPaused: Bool) { loop.perform { [fetch] _ in fetch.pause(isPaused) } }

    public func stop() {
        window.stop()
        loop.performAndWait { [fetch] _ in fetch.stop() }
        if ownsLoop { loop.stop() }
    }

    private func demand() { loop.perform { [fetch] _ in fetch.serveReader() } }
}
