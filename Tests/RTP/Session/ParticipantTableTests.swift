import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom
import TestSupport
import Testing

@testable import TenfourSession

struct ParticipantTableTests {
    private let schedule = ReportSchedule()

    private func add(_ ssrc: UInt32, to table: inout ParticipantTable, at now: Instant) -> Int? {
        var events = EventQueue()
        let header = RTPHeader(
            marker: false, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: 0),
            timestamp: RTPTimestamp(rawValue: 0), ssrc: SSRC(ssrc))
        switch table.source(of: header, .opus, from: bob, schedule, &events, at: now) {
        case .source(let index): return index
        case .refused: return nil
        }
    }

    /// Anyone who can send packets can invent sources: those that have sent one packet make room after a moment.
    @Test func aFullTableGivesUpTheSourceThatHasSentLittle() {
        var table = ParticipantTable()
        for number in 0..<RTPSession.maximumSourceCount {
            #expect(add(UInt32(number), to: &table, at: .start + .milliseconds(number)) == number)
        }
        #expect(add(1_000, to: &table, at: .start + .milliseconds(150)) == nil, "all of them may talk")
        #expect(add(1_000, to: &table, at: .start + .milliseconds(151)) != nil)
        #expect(table.index(of: SSRC(0)) == nil)
        #expect(table.sources.count == RTPSession.maximumSourceCount)
    }

    @Test func aSourceLeavesAMomentAfterItsGoodbye() {
        var table = ParticipantTable()
        var events = EventQueue()
        _ = add(7, to: &table, at: .start)
        table.goodbyeArrived(from: SSRC(7), at: bob, reason: "", schedule, &events, .start)
        table.removeExpired(schedule, &events, at: .start + .milliseconds(199))
        #expect(table.sources.count == 1)
        #expect(table.all(at: .start).isEmpty, "it is listed no longer")
        table.removeExpired(schedule, &events, at: .start + .milliseconds(200))
        #expect(table.sources.isEmpty)
        #expect(events.next() == .sourceLeft(SSRC(7), reason: ""))
    }

    @Test func afterARemovalTheDeadlineIsAlwaysToCome() {
        for seed in 0..<500 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var (table, schedule, events) = (ParticipantTable(), ReportSchedule(), EventQueue())
            // Many members with large reports are awaited longer than the fewer that stay.
            for _ in 0..<100 { schedule.observe(byteCount: Int.random(in: 100...1_500, using: &random)) }
            let configuration = RTPSessionConfiguration(remotes: [bob])
            for number in 0..<Int.random(in: 1...60, using: &random) {
                let arrival = Instant.start + .milliseconds(Int.random(in: 0...40_000, using: &random))
                let ssrc = SSRC(UInt32(number))
                if Bool.random(using: &random) { _ = add(ssrc.rawValue, to: &table, at: arrival) }
                guard Bool.random(using: &random) else { continue }
                table.reportArrived(from: ssrc, at: bob, configuration, schedule, arrival)
            }
            for now in (0..<4).map({ _ in Int.random(in: 0...100, using: &random) }).sorted() {
                let now = Instant.start + .seconds(now)
                table.removeExpired(schedule, &events, at: now)
                if let deadline = table.deadline { #expect(deadline > now, "seed \(seed)") }
            }
        }
    }

    @Test func aGoodbyeFromAnotherHostEndsNothing() {
        var table = ParticipantTable()
        var events = EventQueue()
        _ = add(7, to: &table, at: .start)
        table.goodbyeArrived(from: SSRC(7), at: carol, reason: "", schedule, &events, .start)
        #expect(table[0].goodbye == nil)
    }

    @Test func strangersThatReportAreLimited() {
        var table = ParticipantTable()
        let configuration = RTPSessionConfiguration(remotes: [bob])
        for number in 0..<100 {
            table.reportArrived(from: SSRC(UInt32(number)), at: carol, configuration, schedule, .start)
        }
        #expect(table.all(at: .start).count == 8)
        #expect(table.listenerCount == 0)
    }
}
