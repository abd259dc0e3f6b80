import Glibc
import TenfourAudioCore
import TenfourSession
import TenfourUV
import Testing

struct EventLoopTests {
    let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test func aLoopWithNothingToWaitForReturns() {
        loop.run()
    }

    @Test func aLoopThatWasStoppedBeforeItRanReturnsAtOnceAndThenRunsAgain() throws {
        let timer = try loop.makeTimer { [unowned loop] in loop.stop() }
        let deadline = loop.now + .milliseconds(5)
        timer.arm(at: deadline)
        loop.stop()
        loop.run()
        loop.run()
        #expect(loop.now >= deadline)
    }

    @Test func theClockDoesNotGoBack() {
        var last = loop.now
        for _ in 0..<10_000 {
            let now = loop.now
            #expect(now >= last)
            last = now
        }
    }

    @Test func aSignalIsSeenOnTheThreadOfTheLoop() throws {
        var caught = 0
        let handle = try loop.onSignal(SIGUSR1) { [unowned loop] in
            caught += 1
            loop.stop()
        }
        // Uses kill() instead of raise(), because test threads block signals.
        kill(getpid(), SIGUSR1)
        try run(loop) { caught > 0 }
        #expect(caught == 1)
        handle.close()
    }

    @Test func aSignalThatCannotBeCaughtIsRefused() throws {
        let error = #expect(throws: NetworkError.self) { _ = try loop.onSignal(SIGKILL) {} }
        #expect(error?.function == "uv_signal_start" && error?.code == EINVAL)
        loop.run()
    }

    @Test func aHandleThatDoesNotKeepTheLoopRunningLetsItReturn() throws {
        let handle = try loop.onSignal(SIGUSR2) {}
        #expect(handle.keepsLoopRunning)
        handle.keepsLoopRunning = false
        loop.run()
        #expect(!handle.keepsLoopRunning && !handle.isClosed)
    }

    @Test func aPipeIsReadWhenThereAreBytesAndWhenItEnds() throws {
        let pipe = makePipe()
        defer { Glibc.close(pipe.reading) }
        var read: [[UInt8]] = []
        var handle: LoopHandle?
        handle = try loop.onReadable(pipe.reading) {
            let bytes = readSome(pipe.reading)
            read.append(bytes)
            if bytes.isEmpty { handle?.close() }
        }
        #expect(fcntl(pipe.reading, F_GETFL) & O_NONBLOCK == 0)
        let timer = try loop.makeTimer {
            write(pipe.writing, [1, 2])
            Glibc.close(pipe.writing)
        }
        timer.arm(at: loop.now + .milliseconds(2))
        loop.run()
        #expect(read == [[1, 2], []])
        #expect(handle?.isClosed == true)
    }

    @Test func aTerminalIsReadLineByLine() throws {
        let (keyboard, terminal) = makeTerminal()
        defer {
            Glibc.close(keyboard)
            Glibc.close(terminal)
        }
        var read: [UInt8] = []
        let handle = try loop.onReadable(terminal) { [unowned loop] in
            read = readSome(terminal)
            loop.stop()
        }
        write(keyboard, Array("m\n".utf8))
        try run(loop) { !read.isEmpty }
        #expect(read == Array("m\n".utf8))
        handle.close()
    }

    @Test(arguments: ["/dev/null", "/etc/passwd"])
    func aFileThatIsAlwaysReadyIsRefusedWithTheRemedy(_ path: String) throws {
        let file = unsafe open(path, O_RDONLY)
        defer { Glibc.close(file) }
        let error = #expect(throws: NetworkError.self) { _ = try loop.onReadable(file) {} }
        #expect(error?.reason == .alwaysReady(fileDescriptor: file))
        #expect(error?.description.contains("connect a terminal or a pipe") == true)
    }

    @Test func aDescriptorThatIsNotOpenIsRefused() throws {
        let error = #expect(throws: NetworkError.self) { _ = try loop.onReadable(9999) {} }
        #expect(error?.code == EBADF)
    }

    @Test func aLoopThatEndsTakesEverythingWithItAndCallsNobody() throws {
        weak var timer: LoopTimer?
        weak var socket: UDPSocket?
        weak var handle: LoopHandle?
        let pipe = makePipe()
        defer {
            Glibc.close(pipe.reading)
            Glibc.close(pipe.writing)
        }
        func fillALoop() throws -> Wakeup {
            let loop = try EventLoop()
            let newTimer = try loop.makeTimer { Issue.record("a timer of a loop that ended") }
            newTimer.arm(at: loop.now)
            let newSocket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
            newSocket.receive { _, _, _ in
                _ = newSocket
                Issue.record("a loop that has ended received a datagram")
            }
            newSocket.send([1], to: newSocket.localEndpoint)
            handle = try loop.onReadable(pipe.reading) { Issue.record("a pipe of a loop that ended") }
            write(pipe.writing, [1])
            try Resolver.resolve("127.0.0.1", port: 1, on: loop) { _ in Issue.record("a name of a loop that ended") }
            let wakeup = try loop.makeWakeup { Issue.record("a wakeup of a loop that ended") }
            wakeup.signal()
            (timer, socket) = (newTimer, newSocket)
            return wakeup
        }
        let wakeup = try fillALoop()
        #expect(timer == nil && socket == nil && handle == nil)
        wakeup.signal()
    }

    @Test func aLoopThatItsCallbacksHoldIsLetGoWhenAllIsClosed() throws {
        weak var gone: EventLoop?
        func useALoop() throws {
            let loop = try EventLoop()
            let timer = try loop.makeTimer {
                loop.closeAll()
                loop.closeAll()
            }
            let socket = try UDPSocket(on: loop, bindingTo: .anyLoopbackPort)
            socket.receive { _, _, _ in loop.stop() }
            timer.arm(at: loop.now)
            loop.run()
            #expect(timer.isClosed && socket.isClosed)
            gone = loop
        }
        try useALoop()
        #expect(gone == nil)
    }

    @Test func aSecondCloseDoesNothing() throws {
        let timer = try loop.makeTimer {}
        timer.close()
        timer.close()
        loop.run()
        timer.close()
        #expect(timer.isClosed && !timer.keepsLoopRunning)
    }
}

/// Returns both ends of a pseudo-terminal (ioctl_tty(2)). Swift does not import TIOCSPTLCK and TIOCGPTPEER.
private func makeTerminal() -> (keyboard: Int32, terminal: Int32) {
    let keyboard = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
    var isLocked: Int32 = 0
    let unlocked = unsafe ioctl(keyboard, 0x4004_5431, &isLocked)
    let terminal = ioctl(keyboard, 0x5441, O_RDWR | O_NOCTTY)
    precondition(unlocked == 0 && terminal >= 0)
    return (keyboard, terminal)
}

private func makePipe() -> (reading: Int32, writing: Int32) {
    var ends: (Int32, Int32) = (-1, -1)
    let code = unsafe withUnsafeMutableBytes(of: &ends) { bytes in
        unsafe pipe(bytes.baseAddress?.assumingMemoryBound(to: Int32.self))
    }
    precondition(code == 0)
    return (ends.0, ends.1)
}

private func readSome(_ fileDescriptor: Int32) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 100)
    let count = unsafe read(fileDescriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
}

private func write(_ fileDescriptor: Int32, _ bytes: [UInt8]) {
    let count = unsafe Glibc.write(fileDescriptor, bytes, bytes.count)
    precondition(count == bytes.count)
}
