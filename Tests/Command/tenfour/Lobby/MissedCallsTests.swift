import TenfourSession
import Testing

@testable import tenfour

private let bob = IPAddress.v4(0x0A00_0002)
private let carol = IPAddress.v4(0x0A00_0003)

struct MissedCallsTests {
    @Test func callsFromOneAddressWithinAMinuteAreOneEntry() {
        var missed = MissedCalls()
        for second in [60, 61, 119, 120] { missed.record("Bob", at: bob, time: second) }
        missed.record("", at: carol, time: 121)
        #expect(missed.calls.map(\.count) == [3, 1, 1] && missed.calls.map(\.time) == [119, 120, 121])
        #expect(missed.calls[0].caller + missed.calls[0].repetition == "Bob (10.0.0.2), 3 times")
        #expect(missed.calls[2].caller + missed.calls[2].repetition == "10.0.0.3")
        #expect(MissedCalls(parsing: missed.text) == missed)
    }

    @Test func aCallerWhoCallsAllDayRemovesNoOthers() {
        var missed = MissedCalls()
        missed.record("Bob", at: bob, time: 0)
        for minute in 1...1_000 {
            missed.record(String(repeating: "\u{20AC}", count: 21), at: carol, time: minute * 60)
        }
        #expect(missed.calls.count == MissedCalls.maximumCount)
        #expect(missed.calls.first?.name == "Bob" && missed.calls.last?.time == 60_000)
        #expect(missed.text.utf8.count < MissedCalls.maximumByteCount)
    }

    @Test func aHostWithManyAddressesRemovesNoOthers() {
        var missed = MissedCalls()
        missed.record("Bob", at: bob, time: 0)
        for number in 1...1_000 {
            let address = IPAddress.v6(high: 0xFE80 << 48, low: UInt64(number), scope: 2)
            missed.record("Eve", at: address, time: number)
        }
        #expect(missed.calls.count == MissedCalls.maximumCount && missed.calls.first?.name == "Bob")
    }

    @Test func numbersOfAFileThatAreTooLargeAreHarmless() {
        let line = #"{"missed_from":"Bob","address":"10.0.0.2","start":60,"count":\#(Int.max)}"#
        let early = #"{"missed_from":"Bob","address":"10.0.0.2","start":\#(Int.min),"count":1}"#
        var read = MissedCalls(parsing: "\(line)\n\(early)\n")
        read.record("Bob", at: bob, time: 61)
        #expect(read.calls.map(\.count) == [MissedCalls.highestRepetition])
    }

    @Test func aFileOfAnotherKindIsHarmless() {
        let line = #"{"missed_from":"\u001b[31mEve","address":"10.0.0.9","start":5,"count":1}"#
        let read = MissedCalls(parsing: "{}\nnonsense\n\(line)\n{\"missed_from\":1}\n")
        #expect(read.calls.map(\.name) == ["\u{FFFD}[31mEve"])
        #expect(MissedCalls(parsing: "").calls.isEmpty)
    }
}
