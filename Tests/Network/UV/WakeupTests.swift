import Synchronization
import TenfourAudioCore
import TenfourUV
import Testing

struct WakeupTests {
    @Test func everySignalOfAnotherThreadIsFollowedByACall() throws {
        let loop = try EventLoop()
        let signalled = Shared(Atomic(0))
        var seen = 0
        var calls = 0
        let rounds = 2000
        let wakeup = try loop.makeWakeup { [unowned loop] in
            calls += 1
            seen = signalled.value.load(ordering: .acquiring)
            if seen == 4 * rounds { loop.stop() }
        }
        // Without the watchdog a lost signal would hang the test instead of failing it.
        let watchdog = try loop.makeTimer { [unowned loop] in loop.stop() }
        watchdog.arm(at: loop.now + .seconds(20))

        @Sendable func work() {
            for _ in 0..<rounds {
                signalled.value.add(1, ordering: .releasing)
                wakeup.signal()
            }
        }
        let threads = (0..<4).map { _ in TestThread(work) }
        loop.run()
        for thread in threads { thread.join() }
        #expect(seen == 4 * rounds)
        #expect(calls >= 1 && calls <= 4 * rounds)
    }

    @Test func aSignalBeforeTheLoopRunsIsNotLost() throws {
        let loop = try EventLoop()
        var calls = 0
        let wakeup = try loop.makeWakeup { [unowned loop] in
            calls += 1
            loop.stop()
        }
        wakeup.signal()
        wakeup.signal()
        try run(loop) { calls > 0 }
        #expect(calls == 1)
    }

    @Test func aWakeupThatIsClosedAfterItsSignalDoesNotCall() throws {
        let loop = try EventLoop()
        let wakeup = try loop.makeWakeup { Issue.record("a closed wakeup called") }
        wakeup.signal()
        loop.close(wakeup)
        loop.close(wakeup)
        wakeup.signal()
        loop.run()
        wakeup.signal()
    }

    @Test func threadsMayGoOnSignallingWhileTheLoopEnds() throws {
        for _ in 0..<20 {
            let isOver = Shared(Atomic(false))
            var loop: EventLoop? = try EventLoop()
            let wakeup = try #require(loop).makeWakeup {}
            @Sendable func work() {
                while !isOver.value.load(ordering: .relaxed) { wakeup.signal() }
            }
            let threads = [TestThread(work), TestThread(work)]
            try loop.map(settle)
            loop = nil
            isOver.value.store(true, ordering: .relaxed)
            for thread in threads { thread.join() }
        }
    }

    @Test func aLoopRunsOnAThreadMadeElsewhere() {
        let handover = Handover()
        let calls = Shared(Atomic(0))
        let thread = TestThread {
            guard let loop = try? EventLoop() else { return }
            let wakeup = try? loop.makeWakeup { [unowned loop] in
                calls.value.add(1, ordering: .relaxed)
                loop.stop()
            }
            handover.give(wakeup)
            loop.run()
        }
        handover.take()?.signal()
        thread.join()
        #expect(calls.value.load(ordering: .relaxed) == 1)
    }
}

/// Passes a wakeup to another thread by atomics, since the thread sanitizer does not recognise Swift's `Mutex`.
private final class Handover: Sendable {
    private nonisolated(unsafe) var wakeup: Wakeup?
    private let isThere = Atomic(false)

    func give(_ wakeup: Wakeup?) {
        unsafe self.wakeup = wakeup
        isThere.store(true, ordering: .releasing)
    }

    func take() -> Wakeup? {
        while !isThere.load(ordering: .acquiring) {}
        return unsafe wakeup
    }
}

/// Lets closures share a value that cannot be copied.
private final class Shared<Value: ~Copyable & Sendable>: Sendable {
    let value: Value
    init(_ value: consuming Value) { self.value = value }
}
