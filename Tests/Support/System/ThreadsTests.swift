import Dispatch
import Foundation
import Synchronization
import TenfourSystem
import Testing

struct WorkerThreadTests {
    @Test func aDetachedThreadRunsElsewhere() throws {
        let (done, caller) = (DispatchSemaphore(value: 0), UInt(pthread_self()))
        nonisolated(unsafe) var worker = caller
        try WorkerThread.detached {
            unsafe worker = UInt(pthread_self())
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 60) == .success)
        #expect(unsafe worker != caller)
    }

    private final class Counter: Sendable {
        let value = Atomic(0)
    }

    @Test func joinWaitsForTheEnd() throws {
        let counter = Counter()
        let thread = try WorkerThread {
            usleep(10_000)
            counter.value.store(1, ordering: .releasing)
        }
        thread.join()
        #expect(counter.value.load(ordering: .acquiring) == 1)
    }
}

struct WakeupPipeTests {
    @Test func signalsBeforeAWaitEndItAtOnceAndOnce() throws {
        let pipe = try WakeupPipe()
        for _ in 0..<200 { pipe.signal() }
        let clock = ContinuousClock()
        #expect(clock.measure { pipe.wait(atMost: 60_000) } < .seconds(30))
        #expect(clock.measure { pipe.wait(atMost: 20) } >= .milliseconds(19))
    }

    @Test func aClearedSignalWakesNobody() throws {
        let pipe = try WakeupPipe()
        pipe.signal()
        pipe.clear()
        #expect(ContinuousClock().measure { pipe.wait(atMost: 20) } >= .milliseconds(19))
    }
}
