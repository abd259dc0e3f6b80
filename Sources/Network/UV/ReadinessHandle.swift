import CUV

/// The operations that a socket can do without blocking.
public struct Readiness: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let readable = Readiness(rawValue: 1)
    public static let writable = Readiness(rawValue: 2)
    /// Waiting for the socket has failed.
    public static let failed = Readiness(rawValue: 4)
}

/// Watches a socket that belongs to a library. The library reads and writes it, and learns from this handle when it can
/// do so without blocking. The C type is `uv_poll_t`.
///
/// The library owns the descriptor; close the handle before the library closes the descriptor.
@safe public final class ReadinessHandle: LoopHandle {
    private let poll: UnsafeMutablePointer<uv_poll_t>
    private var changed: ((Readiness) -> Void)?

    init(
        on loop: EventLoop, _ fileDescriptor: Int32, _ changed: @escaping (Readiness) -> Void
    ) throws(NetworkError) {
        unsafe poll = try Self.initialised("uv_poll_init") { unsafe uv_poll_init(loop.loop, $0, fileDescriptor) }
        self.changed = changed
        unsafe super.init(adopting: poll)
    }

    /// Starts calling back while the socket has `readiness`, repeatedly as long as it lasts. The C function is
    /// `uv_poll_start`.
    public func watch(for readiness: Readiness) throws(NetworkError) {
        if isClosed { return }
        var events: UInt32 = 0
        if readiness.contains(.readable) { events |= UV_READABLE.rawValue }
        if readiness.contains(.writable) { events |= UV_WRITABLE.rawValue }
        let code = unsafe events == 0 ? uv_poll_stop(poll) : uv_poll_start(poll, Int32(events), readinessChanged)
        try NetworkError.check("uv_poll_start", code)
    }

    override func willClose() { changed = nil }

    fileprivate func call(_ status: Int32, _ events: Int32) {
        var readiness: Readiness = status < 0 ? .failed : []
        if UInt32(bitPattern: events) & UV_READABLE.rawValue != 0 { readiness.insert(.readable) }
        if UInt32(bitPattern: events) & UV_WRITABLE.rawValue != 0 { readiness.insert(.writable) }
        changed?(readiness)
    }
}

extension EventLoop {
    /// Creates a handle that reports when a socket can be read or written. Call `watch` to start it. The C function is
    /// `uv_poll_init`.
    public func onReadiness(
        of fileDescriptor: Int32, _ changed: @escaping (Readiness) -> Void
    ) throws(NetworkError) -> ReadinessHandle {
        try ReadinessHandle(on: self, fileDescriptor, changed)
    }
}

@c private func readinessChanged(_ poll: UnsafeMutablePointer<uv_poll_t>?, _ status: Int32, _ events: Int32) {
    guard let poll = unsafe poll else { return }
    unsafe LoopHandle.owner(of: poll, as: ReadinessHandle.self).call(status, events)
}
