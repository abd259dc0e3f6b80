import Testing

@testable import tenfour

struct MissedCallsTests {
    @Test func callsFromOneAddressWithinAMinuteAreOneEntry() {
        var missed = MissedCalls()
        for second in [60, 61, 119, 120] { missed.record("Bob", at: "10.0.0.2", time: second) }
        missed.record("", at: "10.0.0.3", time: 121)
        #expect(missed.calls.map(\.count) == [3, 1, 1] && missed.calls.map(\.time) == [119, 120, 121])
        #expect(missed.calls[0].caller + missed.calls[0].repetition == "Bob (10.0.0.2), 3 times")
        #expect(missed.calls[2].caller + missed.calls[2].repetition == "10.0.0.3")
        #expect(MissedCalls(parsing: missed.text) == missed)
    }

    @Test func aCallerWhoCallsAllDayRemovesNoOthers() {
        var missed = MissedCalls()
        missed.record("Bob", at: "10.0.0.2", time: 0)
        for minute in 1...1_000 {
            missed.record(String(repeating: "\u{20AC}", count: 21), at: "fe80::1", time: minute * 60)
        }
        #expect(missed.calls.count == MissedCalls.maximumCount)
        #expect(missed.calls.first?.name == "Bob" && missed.calls.last?.time == 60_000)
        #expect(missed.text.utf8.count < MissedCalls.maximumByteCount)
    }

    @Test func aFileOfAnotherKindIsHarmless() {
        let line = #"{"missed_from":"\u001b[31mEve","address":"10.0.0.9","start":5,"count":1}"#
        let read = MissedCalls(parsing: "{}\nnonsense\n\(line)\n{\"missed_from\":1}\n")
        #expect(read.calls.map(\.name) == ["\u{FFFD}[31mEve"])
        #expect(MissedCalls(parsing: "").calls.isEmpty)
    }
}
