import ArgumentParser
import TenfourCall
import Testing

@testable import tenfour

/// The forms of `--auto-answer`.
struct AutoAnswerTests {
    @Test func callsAreAcceptedFromEverybodyOrByName() throws {
        func answering(_ arguments: String...) throws -> StationCall.Answering {
            try Talk.parse(Array(LobbyOptions.withNames(["talk"] + arguments).dropFirst())).lobby
                .answering(hasKeyboard: true)
        }
        #expect(try answering("-q") == .byPerson())
        #expect(try answering("--auto-answer") == .automatic)
        #expect(try answering("--auto-answer", "--hidden") == .automatic)
        #expect(try answering("--auto-answer", "Bob") == .byPerson(acceptingAtOnce: ["bob"]))
        #expect(
            try answering("--auto-answer", "Bob", "--auto-answer=Dora D.")
                == .byPerson(acceptingAtOnce: ["bob", "dora d."]))
        #expect(try answering("--auto-answer", "Bob", "--auto-answer") == .automatic)
        #expect(try answering("--auto-answer", "*") == .byPerson(acceptingAtOnce: ["*"]), "a name like others")
        for name in ["", " "] { #expect(throws: (any Error).self) { try answering("--auto-answer", name) } }
    }

    @Test func aStationOfAFileAnswersEverybodyOrByName() throws {
        func answering(_ value: String) throws -> StationCall.Answering {
            try RadioFile(parsing: "[stations]\nauto-answer = \(value)\n", named: "radio.conf").talk.lobby
                .answering(hasKeyboard: false)
        }
        #expect(try answering("yes") == .automatic)
        #expect(try answering("no") == .onlyFrom([]))
        #expect(try answering("Bob\nauto-answer = Dora") == .onlyFrom(["bob", "dora"]))
    }
}
