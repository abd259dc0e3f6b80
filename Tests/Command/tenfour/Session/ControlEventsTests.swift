import TenfourChannelKeys
import TenfourChannelMember
import TenfourJSON
import TenfourPackets
import TenfourSession
import Testing

@testable import tenfour

/// What programs at the control socket are told about a session.
struct ControlEventsTests {
    private final class Told {
        var lines: [String] = []

        func take() -> [String] {
            defer { lines = [] }
            return lines
        }
    }

    private let told = Told()
    private let bob = SSRC(0xB0B)
    private let endpoint = Endpoint(.v4(0x0A00_0007), port: 5004)

    private func events() -> ControlEvents { ControlEvents(channel: "family") { [told] in told.lines.append($0.line) } }

    private func line(_ event: String, _ name: String) -> String {
        #"{ "event": "\#(event)", "id": "00000b0b", "name": "\#(name)", "channel": "family" }"#
    }

    @Test func whoTalksAndHasEndedIsTold() {
        var events = events()
        var names = TalkerNames()
        names.apply(Event.reporterAppeared(bob, "Bob", from: endpoint))
        events.update([bob], at: .seconds(1), names)
        #expect(told.take() == [line("talking", "Bob")])
        events.update([], at: .milliseconds(1_900), names)
        events.update([bob], at: .milliseconds(2_500), names)
        #expect(told.take() == [], "a pause between words")
        events.update([], at: .milliseconds(3_600), names)
        #expect(told.take() == [line("stopped", "Bob")])
    }

    @Test func whoHearsUsIsTold() {
        let events = events()
        var names = TalkerNames()
        names.apply(Event.reporterAppeared(bob, "Bob", from: endpoint))
        events.heard(.hearingChanged(Hearing(ssrc: bob, endpoint: endpoint, state: .hearsNothing)), names)
        events.heard(.mediaMissing(bob), names)
        events.heard(.mediaReturned(bob, isArriving: true), names)
        #expect(
            told.take() == [
                String(line("hearing", "Bob").dropLast(2)) + #", "state": "hears-nothing" }"#, line("missing", "Bob"),
                line("returned", "Bob"),
            ])
    }

    @Test func membersThatARelayListsAreTold() {
        let events = events()
        let member = ChannelMember(
            id: 1, info: MemberInfo(name: "Bob", microphone: .closed, ssrc: bob, joined: 0, microphoneChanged: 0),
            isListed: true)
        var members = ChannelMembers()
        members.talkers = [member]
        events.apply(.membersKnown(members))
        #expect(told.take() == [line("joined", "Bob")])
        events.apply(.memberChanged(member))
        events.apply(.memberLeft(member))
        events.apply(.memberJoined(member))
        #expect(told.take() == [line("left", "Bob"), line("joined", "Bob")])
    }

    @Test func aPlainPartnerJoinsOnceAndLeavesWithItsName() {
        var events = events()
        var names = TalkerNames()
        for event in [
            Event.reporterAppeared(bob, "Bob", from: endpoint), .sourceAppeared(bob, from: endpoint),
            .sourceLeft(bob, reason: nil), .reporterLeft(bob, reason: nil),
        ] {
            events.left(event, names)
            names.apply(event)
            events.joined(event, names)
        }
        #expect(told.take() == [line("joined", "Bob"), line("left", "Bob")])
    }

    @Test func aFloodOfSourcesIsBounded() {
        var events = events()
        for number in 0..<1_000 {
            events.joined(.sourceAppeared(SSRC(UInt32(number)), from: endpoint), TalkerNames())
        }
        #expect(told.take().count == 256)
    }
}
