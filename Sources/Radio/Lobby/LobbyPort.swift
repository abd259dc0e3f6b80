internal import Synchronization
internal import TenfourAudioCore
internal import TenfourRadio
internal import TenfourSession
internal import TenfourSystem
internal import TenfourUV

/// The media port while no session uses it: a socket on a thread of its own, on which a lobby sends and receives.
///
/// Created on one thread, and run on its own. The owner calls `close` once.
@safe final class LobbyPort: @unchecked Sendable {
    private let loop: EventLoop
    private let socket: UDPSocket
    private let signalling: any CallSignalling
    private let refused: @Sendable (Endpoint, Instant) -> Void
    /// The refusals that `refused` was called for.
    private var toldRefusals: [Endpoint: Int] = [:]
    private let wakeup: Wakeup
    private var timer: LoopTimer?
    private var thread: WorkerThread?
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private let isClosing = Atomic(false)

    private static let longestDatagram = 2_048

    /// Binds the port and starts the thread, on which `refused` is called with each address that refuses a datagram.
    /// Throws with a remedy if the port is taken, or the system has no thread left.
    init(
        _ port: UInt16, _ signalling: any CallSignalling, refused: @escaping @Sendable (Endpoint, Instant) -> Void
    ) throws(RadioError) {
        let target = CallbackTarget<LobbyPort>()
        do throws(NetworkError) {
            loop = try EventLoop()
            var options = SocketOptions()
            options.takesYieldedPort = true
            socket = try UDPSocket(on: loop, bindingTo: Endpoint(.anyV6, port: port), options: options)
            wakeup = try loop.makeWakeup { target.target?.wake() }
        } catch {
            throw RadioError(.unavailable, error.description)
        }
        self.signalling = signalling
        self.refused = refused
        unsafe buffer = .allocate(capacity: Self.longestDatagram)
        target.target = self
        do throws(ThreadError) {
            thread = try WorkerThread { [self] in run() }
        } catch {
            throw RadioError(.failure, "the system can start no thread to wait for calls; close other programs")
        }
    }

    deinit { unsafe buffer.deallocate() }

    /// Sends what is due, after an input by another thread.
    func wakeUp() { wakeup.signal() }

    /// Ends the thread and releases the port. Must not be called on the thread itself.
    func close() {
        isClosing.store(true, ordering: .releasing)
        wakeup.signal()
        thread?.join()
        thread = nil
    }

    private func run() {
        socket.receive { [unowned self] datagram, sender, now in
            _ = signalling.receive(datagram, from: sender, at: now)
            flush(at: now)
        }
        timer = try? loop.makeTimer { [unowned self] in
            let now = loop.now
            // Early enough: this timer also repeats the refused datagrams.
            tellRefusals(at: now)
            signalling.timeElapsed(at: now)
            flush(at: now)
        }
        wake()
        if !isClosing.load(ordering: .acquiring) { loop.run() }
        timer?.close()
        socket.close()
        loop.close(wakeup)
    }

    private func wake() {
        if isClosing.load(ordering: .acquiring) { return loop.stop() }
        flush(at: loop.now)
    }

    private func tellRefusals(at now: Instant) {
        for (endpoint, count) in socket.statistics.refusals {
            // Two of them may have come at once.
            for _ in toldRefusals[endpoint, default: 0]..<count { refused(endpoint, now) }
            toldRefusals[endpoint] = count
        }
    }

    private func flush(at now: Instant) {
        while true {
            var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
            let destination = signalling.nextDatagram(into: &output, at: now)
            if let destination { socket.send(output.span, to: destination) }
            _ = unsafe output.finalize(for: buffer)
            if destination == nil { break }
        }
        if let deadline = signalling.nextDeadline { timer?.arm(at: deadline) } else { timer?.disarm() }
    }
}
