import TenfourAudioCore
import TenfourPushToTalk
import TenfourSeededRandom
import Testing

struct DebouncerTests {
    private func at(_ milliseconds: Double) -> Instant { Instant(nanoseconds: Int64(milliseconds * 1e6)) }

    @Test func aBouncingSwitchIsPressedOnceAtItsFirstEdge() {
        var debouncer = Debouncer(isActive: false)
        for (index, time) in [100, 100.4, 101, 103, 104.2].enumerated() {
            #expect(debouncer.edge(to: index % 2 == 0, at: at(time)) == nil)
        }
        #expect(debouncer.deadline == at(109.2))
        #expect(debouncer.timeElapsed(at: at(109.1), level: true) == nil)
        #expect(debouncer.timeElapsed(at: at(109.2), level: true) == .init(isActive: true, time: at(100)))
        #expect(debouncer.isActive && debouncer.deadline == nil)
    }

    @Test func aShortPulseIsNoPress() {
        var debouncer = Debouncer(isActive: false)
        _ = debouncer.edge(to: true, at: at(1))
        _ = debouncer.edge(to: false, at: at(4))
        #expect(debouncer.timeElapsed(at: at(9), level: false) == nil)
        #expect(!debouncer.isActive && debouncer.deadline == nil)
    }

    @Test func aLateReaderStillSeesEachPress() {
        var debouncer = Debouncer(isActive: false)
        #expect(debouncer.edge(to: true, at: at(0)) == nil)
        #expect(debouncer.edge(to: false, at: at(80)) == .init(isActive: true, time: at(0)))
        #expect(debouncer.edge(to: true, at: at(160)) == .init(isActive: false, time: at(80)))
        #expect(debouncer.timeElapsed(at: at(400), level: true) == .init(isActive: true, time: at(160)))
    }

    @Test func aLostEdgeIsFoundByTheLevel() {
        var debouncer = Debouncer(isActive: true)
        // The kernel kept only the last of many edges, and that was one that went up.
        _ = debouncer.edge(to: true, at: at(10))
        #expect(debouncer.timeElapsed(at: at(15), level: false) == .init(isActive: false, time: at(10)))
        _ = debouncer.edge(to: true, at: at(20))
        // A line that cannot be read has the level of its last edge.
        #expect(debouncer.timeElapsed(at: at(25), level: nil) == .init(isActive: true, time: at(20)))
    }

    @Test func randomEdgesNeverRepeatAChangeAndNeverStick() {
        var randomness = SeededRandom(seed: 3)
        for _ in 0..<300 {
            var debouncer = Debouncer(isActive: false)
            var (now, level, isActive) = (0.0, false, false)
            for _ in 0..<100 {
                now += randomness.happens(0.7) ? randomness.unit() * 3 : 5 + randomness.unit() * 50
                var change: Debouncer.Change?
                if let deadline = debouncer.deadline, deadline <= at(now), randomness.happens(0.8) {
                    change = debouncer.timeElapsed(at: at(now), level: level)
                } else {
                    level.toggle()
                    change = debouncer.edge(to: level, at: at(now))
                }
                if let change {
                    #expect(change.isActive != isActive && change.time <= at(now))
                    isActive = change.isActive
                }
                #expect(debouncer.isActive == isActive)
            }
            if let change = debouncer.timeElapsed(at: at(now + 5), level: level) { isActive = change.isActive }
            #expect(isActive == level && debouncer.deadline == nil)
        }
    }
}
