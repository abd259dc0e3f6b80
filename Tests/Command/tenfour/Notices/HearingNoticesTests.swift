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
                    + "check the firewall there, and whether one here forbids sending",
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
        #expect(summary(.hears, .hearsBadly(missingShare: 0.3), .hearsNothing) == "2 of 3 hear you")
        #expect(HearingSummary([hearing(.hears), hearing(.hears)])?.tone == .good)
        #expect(HearingSummary([hearing(.hears), hearing(.noAnswer)])?.tone == .doubtful)
        #expect(HearingSummary([hearing(.hears), hearing(.hears), hearing(.cannotKnow)])?.tone == .plain)
        #expect(HearingSummary([hearing(.muted), hearing(.noAnswer)])?.tone == .bad)
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
