import Glibc
import Synchronization
import TenfourRelayServer
import TenfourSession
import TenfourSystem
import TenfourUV
import TestSupport
import Testing

/// A relay on a thread of its own; it stops when the object is released.
@safe final class RunningRelay {
    let server: RelayServer
    var port: UInt16 { server.localEndpoint.port }

    private let told: Standing
    private var thread = pthread_t()
    private var isRunning = true

    private final class Standing: Sendable {
        private let list = Locked<[RelayNotice]>([])

        var notices: [RelayNotice] { list.withLock { $0 } }

        func append(_ notice: RelayNotice) { list.withLock { $0.append(notice) } }
    }

    init(_ configuration: RelayServerConfiguration) throws {
        let told = Standing()
        self.told = told
        server = try RelayServer(configuration) { told.append($0) }
        let argument = unsafe Unmanaged.passRetained(server).toOpaque()
        let code = unsafe pthread_create(&thread, nil, runRelay, argument)
        precondition(code == 0)
    }

    deinit { stop() }

    var notices: [RelayNotice] { told.notices }

    /// Stops the relay and returns when its thread has ended.
    func stop() {
        if !isRunning { return }
        isRunning = false
        server.stop()
        pthread_join(thread, nil)
    }

    /// Waits until the relay has reported `count` opened plain inputs, and returns their ports.
    func plainPorts(_ count: Int) -> [UInt16] {
        var ports: [UInt16] = []
        wait {
            ports = notices.compactMap { if case .receiving(_, let endpoint) = $0 { endpoint.port } else { nil } }
            return ports.count >= count
        }
        return ports
    }

    /// Waits until `isThere` is true for the status, and records an issue if it never is.
    @discardableResult
    func wait(
        sourceLocation: SourceLocation = #_sourceLocation, until isThere: (RelayServerStatus) -> Bool
    ) -> RelayServerStatus {
        var status = server.status
        wait(sourceLocation: sourceLocation) {
            status = server.status
            return isThere(status)
        }
        return status
    }

    func wait(sourceLocation: SourceLocation = #_sourceLocation, until isThere: () -> Bool) {
        for _ in 0..<6_000 {
            if isThere() { return }
            usleep(10_000)
        }
        Issue.record("the condition did not become true within a minute", sourceLocation: sourceLocation)
    }
}

@c private func runRelay(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let server = unsafe Unmanaged<RelayServer>.fromOpaque(argument).takeRetainedValue()
    do {
        try server.run()
    } catch {
        Issue.record("\(error)")
    }
    return nil
}

extension Endpoint {
    static let anyLoopbackPort = Endpoint(.loopbackV4, port: 0)

    static func loopback(_ port: UInt16) -> Endpoint { Endpoint(.loopbackV4, port: port) }
}

/// Returns a valid RTP packet with SSRC 7.
func rtp(_ sequenceNumber: UInt8, byteCount: Int = 100) -> [UInt8] {
    [0x80, 111, 0, sequenceNumber, 0, 0, 0, 0, 0, 0, 0, 7] + [UInt8](repeating: sequenceNumber, count: byteCount - 12)
}

/// Threads that call `wait` continue after `open`, or after about a minute.
final class Gate: Sendable {
    private let isOpen = Atomic(false)

    func open() { isOpen.store(true, ordering: .releasing) }

    func wait() {
        for _ in 0..<60_000 where !isOpen.load(ordering: .acquiring) { usleep(1_000) }
    }
}
