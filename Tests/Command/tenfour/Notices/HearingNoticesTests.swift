import TenfourPackets
import TenfourSession
import Testing

@testable import tenfour

/// What a talker reads about who hears it, and a listener about missing audio.
struct HearingNoticesTests {
    private let bob = SSRC(0xB0B)
    private let endpoint = Endpoint(.v4(0x0A00_0007), port: 5004)

    private var names: TalkerNames {
        var names = TalkerNames()
        names.apply(Event.reporterAppeared(bob, "Bob", from: endpoint))
        return names
    }

    private func hearing(_ state: HearingState, _ duration: Duration? = nil) -> Hearing {
        Hearing(ssrc: bob, endpoint: endpoint, state: state, duration: duration)
    }

    private func lines(_ hearings: [Hearing]) -> [String?] {
        var notices = HearingNotices()
        return hearings.map { notices.line(for: .hearingChanged($0), names) }
    }

    @Test func troubleIsToldAndItsEnd() {
        #expect(
            lines([hearing(.hears), hearing(.hearsNothing, .seconds(1.6)), hearing(.hears), hearing(.hears)]) == [
                nil,
                "Bob has heard nothing from you for 2 s, while packets from there arrive: only the direction to Bob fails; "
                    + "check the port and the firewall there, and whether one here forbids sending",
                "Bob hears you again",
                nil,
            ])
        #expect(
            lines([hearing(.notYetKnown), hearing(.noAnswer, .seconds(2.5)), hearing(.notYetKnown), hearing(.hears)])
                == [
                    nil,
                    "Bob has not answered for 3 s: nothing arrives from there, so it is not known whether you are heard",
                    nil,
                    "Bob hears you again",
                ])
        #expect(
            lines([
                hearing(.muted), hearing(.noOutput), hearing(.playsNothing), hearing(.hearsBadly(missingShare: 0.234)),
            ])
                == [
                    "Bob receives you, but the speaker there is muted",
                    "Bob receives you, but plays nothing: it has no output, or its sound card is gone",
                    "Bob receives you, but plays almost nothing: your packets arrive too late there, or cannot be decoded",
                    "Bob hears you badly: 23% of your audio is missing there",
                ])
    }

    /// Before the partner is known, and once more with its name.
    @Test func aRefusalIsToldOnceForEachAddress() {
        let refusal =
            "10.0.0.7:5004 refuses your packets: no program receives there; start tenfour there, or name the port that it "
            + "uses, as HOST:PORT"
        let unknown = Hearing(ssrc: nil, endpoint: endpoint, state: .refused, duration: .seconds(1))
        #expect(
            lines([unknown, hearing(.refused), hearing(.notYetKnown), hearing(.hears), hearing(.refused)]) == [
                refusal, nil, nil, "Bob hears you again", refusal,
            ])
        #expect(lines([unknown, hearing(.hears), hearing(.hears)]) == [refusal, "Bob hears you again", nil])
    }

    @Test func theSameTroubleIsToldOnce() {
        let told = lines([hearing(.muted), hearing(.muted), hearing(.notYetKnown), hearing(.muted), hearing(.noOutput)])
        #expect(told.map { $0 != nil } == [true, false, false, false, true])
    }

    @Test func missingAudioIsToldOnce() {
        var notices = HearingNotices()
        let told = [
            Event.mediaMissing(bob), .mediaMissing(bob), .mediaReturned(bob, isArriving: true), .mediaMissing(bob),
            .mediaReturned(bob, isArriving: false), .mediaReturned(bob, isArriving: true),
        ].map { notices.line(for: $0, names) }
        let missing =
            "Bob is on the air, but nothing arrives from there: check the network and the firewall here"
        #expect(told == [missing, nil, "the audio of Bob arrives again", missing, nil, nil])
    }

    @Test func theStatusLineHasAFewWords() {
        func summary(_ states: HearingState...) -> String? { HearingSummary(states.map { hearing($0) })?.text }
        #expect(summary() == nil && summary(.notYetKnown) == nil && summary(.cannotKnow, .notYetKnown) == nil)
        #expect(summary(.hears) == "heard")
        #expect(summary(.hearsBadly(missingShare: 0.2)) == "heard badly (20% missing)")
        #expect(summary(.hearsNothing) == "NOT HEARD")
        #expect(summary(.muted) == "NOT HEARD: muted there")
        #expect(summary(.noAnswer) == "no answer")
        #expect(summary(.refused) == "NOT HEARD: no program there")
        #expect(summary(.hears, .hearsBadly(missingShare: 0.3), .hearsNothing) == "2 of 3 hear you")
        #expect(HearingSummary([hearing(.hears), hearing(.hears)])?.tone == .good)
        #expect(HearingSummary([hearing(.hears), hearing(.noAnswer)])?.tone == .doubtful)
        #expect(HearingSummary([hearing(.hears), hearing(.hears), hearing(.cannotKnow)])?.tone == .plain)
        #expect(HearingSummary([hearing(.muted), hearing(.noAnswer)])?.tone == .bad)
    }

    private func member(_ number: UInt32, _ state: HearingState, _ ssrc: SSRC? = nil) -> Hearing {
        var hearing = Hearing(ssrc: ssrc, endpoint: Endpoint(.anyV4, port: 5004), state: state, duration: .seconds(3))
        hearing.member = number
        return hearing
    }

    @Test func membersOfAChannelAreToldAboutByName() {
        var notices = HearingNotices()
        let told = [
            member(1, .hears, bob), member(1, .hearsNothing, bob), member(2, .muted), member(1, .noAnswer, bob),
            member(1, .hears, bob), member(2, .cannotKnow),
        ].map { notices.line(for: .hearingChanged($0), names) }
        #expect(
            told == [
                nil,
                "Bob has heard nothing from you for 3 s, but still reaches the relay; check the firewall there, and the clock",
                "a listener receives you, but the speaker there is muted",
                "Bob has not answered the relay for 3 s, so it is not known whether you are heard; check the network there",
                "Bob hears you again", nil,
            ])
    }

    /// A thousand members do not fill the screen: eight are named, and in a sample only those who have heard.
    @Test func manyMembersAreFewLines() {
        var notices = HearingNotices()
        let told = (0..<30).map { notices.line(for: .hearingChanged(member($0, .muted)), names) }
        #expect(told.compactMap { $0 }.count == 9)
        #expect(told[8] == "more members do not hear you; the status line (with --plain, the key s) counts them")
        notices.update([member(40, .hears)])
        #expect(notices.line(for: .hearingChanged(member(41, .muted)), names) != nil)
        var sampled = HearingNotices()
        let events = [member(1, .muted), member(2, .hears), member(2, .hearsNothing)].map { Event.hearingChanged($0) }
        #expect(events.map { sampled.line(for: $0, names, isSample: true) != nil } == [false, false, true])
    }

    @Test func aSampleIsNeverAll() {
        func summary(_ states: [HearingState], of count: Int) -> String? {
            HearingSummary(states.enumerated().map { member(UInt32($0), $1) }, isSample: count > states.count)?.text
        }
        #expect(summary([.hears, .hears, .hearsNothing, .hears], of: 4) == "3 of 4 hear you")
        #expect(summary([.hears, .muted], of: 900) == "1 of 2 asked hear you")
        #expect(summary([.hears], of: 2) == "1 of 1 asked hear you")
        #expect(summary([.hears], of: 1) == "heard")
        #expect(summary([.cannotKnow, .cannotKnow], of: 2) == nil)
    }

    @Test func coloursTakeNoColumns() {
        var fields = StatusFields()
        fields.addPart("ON AIR")
        fields.add("heard", tone: .good)
        #expect(fields.text(width: 13) == "ON AIR  heard")
        #expect(fields.text(width: 13, coloured: true) == "ON AIR  \u{1B}[32mheard\u{1B}[0m")
        #expect(fields.text(width: 10, coloured: true) == "ON AIR")
    }
}
