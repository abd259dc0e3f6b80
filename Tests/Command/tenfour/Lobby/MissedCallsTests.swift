import Glibc
import TenfourAudioCore
import TenfourSession
import TestSupport
import Testing

@testable import tenfour

private let bob = IPAddress.v4(0x0A00_0002)
private let carol = IPAddress.v4(0x0A00_0003)

struct MissedCallsTests {
    @Test func callsFromOneAddressWithinAMinuteAreOneEntry() {
        var missed = MissedCalls()
        for second in [60, 61, 119, 120] { missed.record(.init(name: "Bob", address: bob, time: second)) }
        missed.record(.init(name: "", address: carol, time: 121))
        #expect(missed.calls.map(\.count) == [3, 1, 1] && missed.calls.map(\.time) == [119, 120, 121])
        #expect(missed.calls[0].caller + missed.calls[0].repetition == "Bob (10.0.0.2), 3 times")
        #expect(missed.calls[2].caller + missed.calls[2].repetition == "10.0.0.3")
        #expect(MissedCalls(parsing: missed.text) == missed)
    }

    @Test func aCallerWhoCallsAllDayRemovesNoOthers() {
        var missed = MissedCalls()
        missed.record(.init(name: "Bob", address: bob, time: 0))
        for minute in 1...1_000 {
            missed.record(.init(name: String(repeating: "\u{20AC}", count: 21), address: carol, time: minute * 60))
        }
        #expect(missed.calls.count == MissedCalls.maximumCount)
        #expect(missed.calls.first?.name == "Bob" && missed.calls.last?.time == 60_000)
        #expect(missed.text.utf8.count < MissedCalls.maximumByteCount)
    }

    @Test func aHostWithManyAddressesRemovesNoOthers() {
        var missed = MissedCalls()
        missed.record(.init(name: "Bob", address: bob, time: 0))
        for number in 1...1_000 {
            let address = IPAddress.v6(high: 0xFE80 << 48, low: UInt64(number), scope: 2)
            missed.record(.init(name: "Eve", address: address, time: number))
        }
        #expect(missed.calls.count == MissedCalls.maximumCount && missed.calls.first?.name == "Bob")
    }

    @Test func numbersOfAFileThatAreTooLargeAreHarmless() throws {
        let line = #"{"missed_from":"Bob","address":"10.0.0.2","start":60,"count":\#(Int.max)}"#
        let early = #"{"missed_from":"Bob","address":"10.0.0.2","start":\#(Int.min),"count":1}"#
        var read = try #require(MissedCalls(parsing: "tenfour missed calls 1\n\(line)\n\(early)\n"))
        read.record(.init(name: "Bob", address: bob, time: 61))
        #expect(read.calls.map(\.count) == [MissedCalls.highestRepetition])
    }

    @Test func linesThatCannotBeReadAreLeftOut() {
        let line = #"{"missed_from":"\u001b[31mEve","address":"10.0.0.9","start":5,"count":1}"#
        let read = MissedCalls(parsing: "tenfour missed calls 1\n{}\nnonsense\n\(line)\n{\"missed_from\":1}\n")
        #expect(read?.calls.map(\.name) == ["\u{FFFD}[31mEve"])
        #expect(MissedCalls(parsing: "") == nil && MissedCalls(parsing: line) == nil)
    }

    @Test func aFloodOfCallsIsWrittenOnceInFiveSecondsAndNothingIsLost() throws {
        let folder = Folder()
        var file = MissedCallFile(path: folder("missed-calls"))
        var texts: Set<String> = []
        for round in 0..<2_000 {
            file.record(.init(name: "Eve", address: carol, time: round / 100))
            let problem = file.update(at: Instant.start + .milliseconds(Int64(round * 10)))
            #expect(problem == nil)
            texts.insert(Folder.text(of: folder("missed-calls")))
        }
        #expect(texts.count == 4, "at 0, 5, 10 and 15 s")
        file.finish()
        #expect(try MissedCallFile.read(folder("missed-calls")).calls.map(\.count) == [2_000])
    }

    @Test func whatAnotherProgramHasWrittenIsKept() throws {
        let folder = Folder()
        var (one, other) = (MissedCallFile(path: folder("missed-calls")), MissedCallFile(path: folder("missed-calls")))
        one.record(.init(name: "Bob", address: bob, time: 1))
        other.record(.init(name: "Carol", address: carol, time: 2))
        one.finish()
        other.finish()
        one.finish()
        #expect(try MissedCallFile.read(folder("missed-calls")).calls.map(\.name) == ["Bob", "Carol"])
    }

    @Test func aBadOrForeignFileIsLeftAsItIsWithASentence() throws {
        let folder = Folder()
        folder.write("something else\n", to: "bad")
        var bad = MissedCallFile(path: folder("bad"))
        bad.record(.init(name: "Bob", address: bob, time: 1))
        let problem = bad.update(at: .start)
        #expect(
            problem
                == "missed calls are not kept: \(folder("bad")) is damaged, or another program's: move it away")
        bad.record(.init(name: "Bob", address: bob, time: 2))
        let repeated = bad.update(at: Instant.start + .seconds(60))
        #expect(repeated == nil, "once")
        bad.finish()
        #expect(Folder.text(of: folder("bad")) == "something else\n")

        folder.write("tenfour missed calls 1\n", to: "open")
        #expect(unsafe chmod(folder("open"), 0o666) == 0)
        var open = MissedCallFile(path: folder("open"))
        open.record(.init(name: "Bob", address: bob, time: 1))
        let remedy = open.update(at: .start)
        #expect(remedy?.contains("chmod 600") == true)
        #expect(Folder.text(of: folder("open")) == "tenfour missed calls 1\n")
    }
}
