import TenfourAudioCore
import TenfourMediaSource
import TenfourPlayer
import Testing

@testable import tenfour

struct WakefulnessTests {
    @Test func aStationThatIsGoneLetsTheMachineSleep() {
        var wakefulness = Wakefulness()
        func isWanted(_ state: StreamState, _ second: Int) -> Bool {
            wakefulness.isWanted(in: state, at: .start + .seconds(second))
        }
        #expect(isWanted(.buffering(.opening), 0) && isWanted(.playing, 5))
        #expect(isWanted(.buffering(.underrun), 100) && isWanted(.buffering(.underrun), 159))
        #expect(!isWanted(.buffering(.underrun), 160) && !isWanted(.buffering(.underrun), 10_000))
        #expect(isWanted(.playing, 10_001) && isWanted(.buffering(.underrun), 10_002))
        #expect(!isWanted(.paused, 10_003) && !isWanted(.ended(.finished), 10_004))
    }
}
