import TenfourAudioCore
import TenfourPackets
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

    @Test func aFullTableGivesUpTheSourceThatIsSilentLongest() {
        var table = ParticipantTable()
        for number in 0..<RTPSession.maximumSourceCount {
            #expect(add(UInt32(number), to: &table, at: .start + .milliseconds(number)) == number)
        }
        #expect(add(1_000, to: &table, at: .start + .milliseconds(400)) == nil, "all of them talk")
        #expect(add(1_000, to: &table, at: .start + .milliseconds(501)) != nil)
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
