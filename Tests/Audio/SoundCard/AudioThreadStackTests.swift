import Glibc
import Synchronization
import TenfourSoundCard
import Testing

/// The stack of an audio thread is mapped before its work begins.
struct AudioThreadStackTests {
    @Test func touchedStackCausesNoPageFaults() throws {
        let counted = Counted()
        let thread = try AudioThread("stack", priority: nil, touchedStackByteCount: 1 << 18, work: counted) {
            counted, _ in
            // The first call also maps pages that are not part of the stack.
            _ = Self.use(levels: 1)
            let before = Self.pageFaultCount
            _ = Self.use(levels: 10)
            counted.set(Self.pageFaultCount - before)
        }
        thread.join()
        #expect(counted.value == 0)
    }

    /// Uses about 4 KiB of stack per level, and twice that without optimisation.
    @inline(never)
    private static func use(levels: Int) -> Int {
        let frame = InlineArray<4_096, UInt8>(repeating: UInt8(levels))
        return levels == 0 ? 0 : use(levels: levels - 1) + Int(frame[levels])
    }

    /// The number of minor page faults of this thread.
    private static var pageFaultCount: Int {
        var usage = rusage()
        unsafe getrusage(__rusage_who_t(1), &usage)
        return usage.ru_minflt
    }

    private final class Counted: Sendable {
        private let count = Atomic<Int>(-1)
        var value: Int { count.load(ordering: .acquiring) }
        func set(_ value: Int) { count.store(value, ordering: .releasing) }
    }
}
