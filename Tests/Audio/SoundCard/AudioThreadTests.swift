import Foundation
import Synchronization
import Testing

@testable import TenfourSoundCard

/// The results that a thread stores.
private final class Notes: Sendable {
    let name = Mutex("")
    let outcome = Mutex<RealTime?>(nil)
    let sum = Atomic<Int>(0)
}

/// A value that can be moved but not copied.
private struct Owned: ~Copyable {
    let value: Int
    let notes: Notes
    deinit { notes.sum.add(1_000, ordering: .relaxed) }
}

@Suite struct AudioThreadTests {
    @Test func aThreadOwnsItsWorkAndItsName() throws {
        let notes = Notes()
        let thread = try AudioThread("mic", priority: nil, work: Owned(value: 42, notes: notes)) { work, outcome in
            work.notes.sum.add(work.value, ordering: .relaxed)
            work.notes.outcome.withLock { $0 = outcome }
            let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            work.notes.name.withLock { $0 = name ?? "" }
        }
        thread.join()
        #expect(notes.sum.load(ordering: .relaxed) == 1_042)
        #expect(notes.name.withLock { $0 } == "tf-audio-mic\n")
        #expect(notes.outcome.withLock { $0 } == .notAsked)
    }

    @Test func priorityIsGrantedOrTheReasonIsReported() throws {
        let notes = Notes()
        let thread = try AudioThread("play", priority: 10, work: notes) { notes, outcome in
            notes.outcome.withLock { $0 = outcome }
            var parameters = sched_param()
            var policy: Int32 = 0
            unsafe pthread_getschedparam(pthread_self(), &policy, &parameters)
            notes.sum.store(policy == SCHED_FIFO ? Int(parameters.sched_priority) : 0, ordering: .relaxed)
        }
        thread.join()
        switch try #require(notes.outcome.withLock { $0 }) {
        case .granted(let priority, _): #expect(notes.sum.load(ordering: .relaxed) == priority)
        case .denied(let priority, _):
            #expect(priority == 10)
            #expect(notes.sum.load(ordering: .relaxed) == 0)
        case .notAsked, .lowered: Issue.record("no priority was requested, or it was lowered")
        }
    }
}
