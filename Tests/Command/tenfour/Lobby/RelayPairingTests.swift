import TenfourChannelKeys
import TenfourCommandSupport
import TenfourRadio
import TenfourSession
import Testing

@testable import TenfourLobby
@testable import TenfourPairing
@testable import tenfour

/// The sentences for a person who pairs through a relay.
struct RelayPairingTests {
    private let number, other: RendezvousNumber
    private let words: PairingWords
    private static let relay = "radio.example.org"
    private static let partner = PairingPartner.atRelay(relay)

    init() throws {
        number = try #require(RendezvousNumber(rawValue: 482_913))
        other = try #require(RendezvousNumber(rawValue: 100_007))
        words = try PairingWords(typed: "acorn badger cabin")
    }

    private func dialogue(showsWords: Bool = true) throws -> PairingDialogue {
        let link = try PairedChannel.made(by: "Alice", port: 0, at: RelayHost(Self.relay))
        let relayed = RelayedPairing(
            [Endpoint(.loopbackV4, port: 9)], words: showsWords ? words : nil, link: link)
        let station = LobbyStation(.init(name: "Alice", port: 0, .relayedPairing(relayed)))
        return PairingDialogue(
            station, hasPartner: !showsWords, areWordsLarge: false)
    }

    private let waiting = "waiting for a number from radio.example.org; q quits"
    private let saying = "say \"482 913, acorn badger cabin\", or type the other station's"

    @Test func theNumberStandsInTheLineBelowWhileItHolds() throws {
        var dialogue = try dialogue()
        #expect(dialogue.hint == waiting)
        let first = try dialogue.handle(.number(number))
        #expect(
            first.sentence
                == "say this number and these three words to the other person: 482 913, acorn badger cabin")
        #expect(dialogue.hint == saying)
        let silent = try dialogue.handle(.silent)
        #expect(
            silent.sentence
                == "radio.example.org no longer answers: until it does, nobody can use the number")
        #expect(dialogue.hint == waiting)
        let again = try dialogue.handle(.number(number))
        #expect(again.sentence == "radio.example.org answers again")
        #expect(dialogue.hint == saying)
        let changed = try dialogue.handle(.number(other))
        #expect(
            changed.sentence == "the number has changed, and the words have not: 100 007, acorn badger cabin")
    }

    @Test(arguments: [
        (RendezvousMessage.PlaceRefusal.full, "radio.example.org has no number left: waiting for one"),
        (
            .tooMany,
            "radio.example.org gives this network no more numbers for now: it has four, or asked too often. This station asks again every 10 s"
        ),
    ])
    func aNumberThatIsRefusedIsShownNoMore(reason: RendezvousMessage.PlaceRefusal, sentence: String) throws {
        var dialogue = try dialogue()
        _ = try dialogue.handle(.number(number))
        let refused = try dialogue.handle(.noNumber(reason))
        #expect(refused.sentence == sentence)
        #expect(dialogue.hint == waiting)
        // The same number is said again, because it was not shown meanwhile.
        let again = try dialogue.handle(.number(number))
        #expect(again.sentence?.hasPrefix("say this number and these three words") == true)
        #expect(dialogue.hint == saying)
    }

    @Test func aBusyRelayAndOneThatFailsAreNamed() throws {
        var dialogue = try dialogue()
        let waits = try dialogue.handle(.waits)
        #expect(waits.sentence == "radio.example.org is busy with other stations: waiting")
        let failed = try dialogue.handle(.failed(.noRoom))
        #expect(failed.sentence == "radio.example.org was busy with other stations for two minutes: try again later")
        #expect(failed.mode == .typingWords(LineInput(), Self.partner))
        let error = #expect(throws: RadioError.self) { try dialogue.handle(.useless(.pairsNone)) }
        #expect(
            error?.description
                == "radio.example.org does not pair stations: its operator needs a tenfour that can, and \"pair on\" in relay.conf"
        )
    }

    /// There is no address that could be wrong.
    @Test func aStationThatDoesNotAnswerIsAskedForItsNumber() throws {
        var dialogue = try dialogue()
        let step = try dialogue.handle(.failed(.noAnswer, guessesLeft: 3), of: Self.partner)
        #expect(
            step.sentence
                == "the other station does not answer through radio.example.org: is it still waiting? Ask for its number again"
        )
        #expect(step.mode == .typingWords(LineInput(), Self.partner))
        let crossed = try dialogue.handle(.failed(.crossed, guessesLeft: 3), of: Self.partner)
        #expect(
            crossed.sentence
                == "somebody has typed this station's number at the same time; type again if it was not the other person"
        )
        #expect(crossed.mode == .list)
    }

    /// The relay passes on two runs of one host, and then the other station has another number and other words.
    @Test func afterTwoWrongGuessesTheOtherStationIsAskedAgain() throws {
        var dialogue = try dialogue()
        let first = try dialogue.handle(.failed(.wrongWords, guessesLeft: 1), of: Self.partner)
        #expect(first.sentence?.hasSuffix("; one guess is left for these words") == true)
        let second = try dialogue.handle(.failed(.guessedTooOften, guessesLeft: 1), of: Self.partner)
        #expect(second.sentence?.hasSuffix("; ask for both: one guess is left here") == true)
        #expect(second.mode == .typingWords(LineInput(), Self.partner))
        for failure in [PairingFailure.wrongWords, .guessedTooOften] {
            let error = #expect(throws: RadioError.self) {
                try dialogue.handle(.failed(failure, guessesLeft: 0), of: Self.partner)
            }
            #expect(error?.description.contains("wrong words three times: start `tenfour pair` again here") == true)
        }
        _ = try dialogue.begin(with: Self.partner, typed: "\(number) acorn acorn acorn")
        let refused = try dialogue.handle(.failed(.tooManyRuns))
        #expect(
            refused.sentence
                == "482 913 was tried twice from this network: the other station must show another number; start it again if it does not"
        )
    }

    /// The relay would find this station itself.
    @Test func theNumberOfThisStationIsNotAskedFor() throws {
        var dialogue = try dialogue()
        _ = try dialogue.handle(.number(number))
        let own = try dialogue.begin(with: Self.partner, typed: "482913 acorn badger cabin")
        #expect(
            own.sentence == "482 913 is the number of this station: type the one that the other station shows")
        #expect(own.mode == .typingWords(LineInput(), Self.partner))
        #expect(dialogue.typedNumber == nil)
        let another = try dialogue.begin(with: Self.partner, typed: "100007 acorn badger cabin")
        #expect(another.sentence == nil && another.mode == .pairing(Self.partner))
        #expect(dialogue.typedNumber == other)
    }

    @Test func otherWordsAreSaidWithTheNextNumber() throws {
        var dialogue = try dialogue()
        _ = try dialogue.handle(.number(number))
        let step = dialogue.wordsAreRenewed()
        #expect(step.sentence?.hasSuffix("this station gets another number and other words") == true)
        #expect(dialogue.hint == waiting)
        let next = try dialogue.handle(.number(other))
        let sentence = "say this number and these three words to the other person: 100 007, "
        #expect(next.sentence?.hasPrefix(sentence) == true)
    }

    @Test func theHelpIsAboutWhatThePersonCanDo() throws {
        let showing = try dialogue()
        #expect(showing.help(.list)?.first?.hasPrefix("say the number and the three words") == true)
        #expect(showing.help(.pairing(Self.partner)) == nil)
        let typing = try dialogue(showsWords: false)
        #expect(typing.help(.list) == ["Enter types the other station's number and words", "q quits"])
        #expect(typing.hint == "Enter types a number and words, q quits")
    }

    @Test func afterTheRightWordsNothingIsToBeSaid() throws {
        var dialogue = try dialogue()
        _ = try dialogue.handle(.number(number))
        _ = try dialogue.handle(.paired(with: Endpoint(.loopbackV4, port: 9)))
        #expect(dialogue.hint == "waiting until the other station has the link; q quits")
    }
}
