public import TenfourMediaSource

/// What lies at an `http://` or `https://` address.
///
/// A connection that breaks is made anew, for as long as `HTTPOptions.giveUpAfter` says, and goes on where it broke off, or from now
/// where that is a station. The very first one fails with a sentence.
public final class HTTPByteSource: ByteSource {
    private let window: SharedWindow
    private let fetch: HTTPFetch
    private let loop: HTTPLoop
    private let ownsLoop: Bool

    /// Begins at once. Those that follow one another should share a `loop`, as the next may come over the connection of the
    /// last; without one it has its own. Throws where the address is none, or this machine has no libcurl.
    public init(
        _ address: String, options: HTTPOptions = HTTPOptions(), limits: BufferLimits = BufferLimits(),
        on loop: HTTPLoop? = nil
    ) throws(ByteSourceError) {
        let resource: Resource
        do throws(ResourceError) { resource = try Resource(address) } catch { throw .failed(error.description) }
        guard case .http = resource else { throw .failed("\(resource) is no address; write one as https://host/path") }
        try needCurl()
        ownsLoop = loop == nil
        self.loop = if let loop { loop } else { try HTTPLoop() }
        window = SharedWindow(ByteSourceState(resource: resource), limits: limits)
        fetch = HTTPFetch(resource, options, into: window)
        if !self.loop.perform({ [fetch] duty in fetch.start(on: duty) }) { window.stop() }
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

    private func demand() { loop.perform { [fetch] _ in fetch.demanded() } }
}
