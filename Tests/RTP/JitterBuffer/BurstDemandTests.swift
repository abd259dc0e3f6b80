import TenfourAudioCore
import TenfourJitterBuffer
import Testing

/// Sound servers ask for a quantum at once: several periods, and then none until the quantum has been played.
@Suite struct BurstDemandTests {
    @Test(arguments: [1_024, 2_048], [0, 5.0])
    func demandsInBurstsAreNoReasonToConceal(quantum: Int, jitter: Double) {
        var chance = Chance(state: 2)
        let delays = (0..<3_100).map { _ in FrameCount(48 + Int(48 * abs(jitter * chance.normal()))) }
        var even = SimulatedTalk()
        even.delay = { delays[$0] }
        even.run(seconds: 60)
        var talk = SimulatedTalk()
        talk.delay = { delays[$0] }
        talk.quantum = quantum
        talk.run(seconds: 5)
        let learned = talk.buffer.statistics.concealed
        talk.run(seconds: 55)
        let (burst, depth) = (Double(quantum) / 48, Double(talk.buffer.playoutDelay.rawValue) / 48)
        let added = depth - Double(even.buffer.playoutDelay.rawValue) / 48
        #expect(added < burst * 1.2, "\(added) ms for a burst of \(burst), with the reserve of the estimate")
        #expect(Double(learned.rawValue) / 48 < 2 * burst + 20, "\(learned) at first")
        #expect(talk.buffer.statistics.concealed - learned <= FrameCount(480), "and none after")
    }

    @Test(arguments: [1_024, 2_048]) func theClockEvensBurstsOut(quantum: Int) {
        var clock = CardClock()
        var asked = 0
        for tick in 0..<2_000 {
            let now = Instant.start + .microseconds(tick * quantum * 1_000 / 48)
            while asked < (tick + 1) * quantum {
                #expect(clock.request(at: now) == .zero)
                clock.advance(by: FrameCount(240))
                asked += 240
            }
            guard tick > 50 else { continue }
            let ahead = clock.position(at: now).rawValue - tick * quantum
            #expect(ahead >= 0 && ahead <= quantum, "\(ahead) frames")
        }
    }
}
