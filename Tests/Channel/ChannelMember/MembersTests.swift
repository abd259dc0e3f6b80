import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// The members of a channel as its stations know them, over a simulated network and relay.
struct MembersTests {
    private func named(_ name: String?, _ role: Role) -> ChannelConfiguration {
        var configuration = Family.configuration(role)
        configuration.name = name
        return configuration
    }

    private func anna(speech: Speech? = nil) -> Member { Member(0, named("Anna", .talk), ssrc: 9, speech: speech) }
    private func ben() -> Member { Member(1, named("Ben", .talk), ssrc: 5) }
    private func cleo() -> Member { Member(2, named("Cleo", .listen), ssrc: 7) }

    private func known(_ member: Member) -> ChannelMembers? { member.channel.members }

    private func names(_ member: Member) -> [String] {
        member.channel.members?.talkers.map(\.info.name) ?? ["nobody told"]
    }

    @Test func allKnowWhoIsThereWithinTwoSeconds() throws {
        let air = Airwaves([anna(), ben(), cleo()], RealRelay())
        air.run(seconds: 2)
        #expect(names(air.members[0]) == ["Ben"])
        #expect(names(air.members[1]) == ["Anna"])
        #expect(names(air.members[2]).sorted() == ["Anna", "Ben"])
        let members = try #require(known(air.members[2]))
        #expect(members.count == 2 && members.listenerCount == 0 && members.unidentifiedCount == 0)
        #expect(air.members[0].channel.members?.listenerCount == 1)
        #expect(members.talkers.first(where: { $0.info.ssrc == SSRC(9) })?.name == "Anna")
        #expect(members.talkers.allSatisfy { $0.info.microphone == .closed })
        #expect(members.talkers.allSatisfy { $0.info.joined == 1_700_000_000 })
    }

    @Test func joiningOpeningClosingAndLeavingAreReported() {
        let air = Airwaves([cleo()], RealRelay(), seed: 3)
        let listener = air.members[0]
        air.run(seconds: 2)
        guard case .membersKnown(let members)? = listener.memberEvents.last else { return #expect(Bool(false)) }
        #expect(members.count == 0)
        let anna = Member(1, named("Anna", .talk), ssrc: 9, at: air.now)
        air.add(anna)
        air.run(seconds: 2)
        anna.channel.microphone(isOpen: true, at: air.now)
        air.flush(1)
        air.run(seconds: 2)
        anna.leave(at: air.now)
        air.flush(1)
        air.run(seconds: 2)
        #expect(happened(listener) == ["Anna joined, closed", "Anna changed, open", "Anna left"])
        #expect(names(listener).isEmpty)
    }

    private func happened(_ member: Member) -> [String] {
        member.memberEvents.compactMap { event in
            switch event {
            case .memberJoined(let other): "\(other.info.name) joined, \(other.info.microphone)"
            case .memberChanged(let other): "\(other.info.name) changed, \(other.info.microphone)"
            case .memberLeft(let other): "\(other.info.name) left"
            default: nil
            }
        }
    }

    @Test func lostRosterRecordsAreSentAgain() {
        let air = Airwaves([anna(), ben(), cleo()], RealRelay())
        var random = SeededRandom(seed: 1)
        // A third of all records is lost, in each direction.
        air.loses = { datagram, _ in
            datagram.starts(with: [99, 1, 6]) && Int.random(in: 0..<3, using: &random) == 0
        }
        air.run(seconds: 15)
        air.members[0].channel.microphone(isOpen: true, at: air.now)
        air.flush(0)
        air.run(seconds: 25)
        for index in [1, 2] {
            let anna = air.members[index].channel.members?.talkers.first(where: { $0.info.ssrc == SSRC(9) })
            #expect(anna?.info.microphone == .open, "\(index)")
        }
        #expect(names(air.members[2]).sorted() == ["Anna", "Ben"])
    }

    /// The relay is restarted. The silent members join again when they notice.
    @Test func membersThatStayThroughARestartAreNotReportedGone() {
        let air = Airwaves([anna(speech: Speech()), ben(), cleo()], RealRelay())
        air.run(seconds: 5)
        #expect(names(air.members[2]).sorted() == ["Anna", "Ben"])
        air.replace(relay: RealRelay(now: air.now, seed: 2))
        for _ in 0..<60 {
            air.run(seconds: 1)
            // Anna talks, so the other members soon notice the restart, each for itself.
            if let members = air.members[2].channel.members { #expect(members.talkers.count == 2) }
        }
        for member in air.members { #expect(happened(member).isEmpty) }
        #expect(names(air.members[2]).sorted() == ["Anna", "Ben"])
        #expect(air.members[2].eventsOnly.contains(.lost))
    }

    @Test func aMemberThatLeftWithTheRelayIsReportedGoneAfterItsLease() {
        let air = Airwaves([anna(speech: Speech()), ben(), cleo()], RealRelay())
        air.run(seconds: 5)
        air.replace(relay: RealRelay(now: air.now, seed: 2))
        air.change(1, out: NetworkModel(loss: .random(1)))
        air.run(seconds: 20)
        #expect(happened(air.members[2]).isEmpty)
        #expect(names(air.members[2]).sorted() == ["Anna", "Ben"])
        air.run(seconds: 25)
        #expect(happened(air.members[2]) == ["Ben left"])
        #expect(names(air.members[2]) == ["Anna"])
    }

    /// The relay is downgraded to a version that sends no roster, and upgraded again.
    @Test func nobodyIsReportedGoneWhenTheRelaySendsNoRoster() {
        let air = Airwaves([anna(speech: Speech()), ben(), cleo()], RealRelay())
        air.run(seconds: 5)
        air.replace(relay: TinyRelay(Family.talk))
        air.run(seconds: 90)
        for member in air.members {
            #expect(member.isJoined && member.channel.members == nil && happened(member).isEmpty)
        }
        air.replace(relay: RealRelay(now: air.now, seed: 2))
        air.run(seconds: 60)
        for member in air.members { #expect(!happened(member).contains { $0.hasSuffix("left") }) }
        #expect(names(air.members[2]).sorted() == ["Anna", "Ben"])
    }

    /// With a relay of the previous version, members learn nothing about each other; everything else works.
    @Test func aRelayOfTheVersionBeforeTellsNothing() {
        let relay = TinyRelay(Family.talk)
        let air = Airwaves([anna(speech: Speech()), ben(), cleo()], relay)
        air.run(seconds: 30)
        for member in air.members {
            #expect(member.isJoined && member.channel.members == nil)
        }
        #expect(air.members[2].heard(from: 9).count > 1_400)
        // Members stop sending their information to a relay that ignores it.
        #expect(relay.records.count { if case .info = $0 { true } else { false } } <= 3 * 4)
    }

    @Test func aMemberWithoutANameIsCountedOnly() throws {
        let silent = Member(3, named(nil, .listen), ssrc: 4)
        let talker = Member(1, named(nil, .talk), ssrc: 5)
        let air = Airwaves([anna(), talker, cleo(), silent], RealRelay())
        air.run(seconds: 2)
        let members = try #require(known(air.members[0]))
        #expect(members.talkers.map(\.name) == [nil])
        #expect(members.talkers.first?.info.microphone == .closed)
        #expect(members.listenerCount == 2)
        air.members[0].channel.requestListeners(from: 0, at: air.now)
        air.flush(0)
        air.run(seconds: 1)
        guard case .listeners(let page)? = air.members[0].memberEvents.last else { return #expect(Bool(false)) }
        #expect(page.members.map(\.info.name) == ["Cleo"] && page.total == 1 && page.next == nil)
    }

    @Test func listenersAreAskedForFiftyAtATime() {
        var members = [anna()]
        for number in 1...60 {
            members.append(Member(number, named("L\(number)", .listen), ssrc: UInt32(100 + number)))
        }
        let air = Airwaves(members, RealRelay())
        air.run(seconds: 4)
        #expect(air.members[0].channel.members?.listenerCount == 60)
        let first = page(air, from: 0)
        #expect(first?.members.count == 50 && first?.total == 60 && first?.next == 50)
        let second = page(air, from: 50)
        #expect(second?.members.count == 10 && second?.next == nil)
        let all = ((first?.members ?? []) + (second?.members ?? [])).map(\.info.name)
        #expect(Set(all).count == 60)
    }

    private func page(_ air: Airwaves, from position: Int) -> ListenerPage? {
        air.members[0].channel.requestListeners(from: position, at: air.now)
        air.flush(0)
        air.run(seconds: 5)
        guard case .listeners(let page)? = air.members[0].memberEvents.last else { return nil }
        return page
    }

    @Test func anotherSSRCIsReportedWithTheName() {
        let air = Airwaves([anna(speech: Speech()), cleo()], RealRelay())
        air.run(seconds: 2)
        air.members[0].rtpSession.takeAnotherSSRC(at: air.now)
        air.members[0].channel.ssrc = air.members[0].rtpSession.ssrc
        air.run(seconds: 2)
        let ssrc = air.members[0].rtpSession.ssrc
        #expect(air.members[1].channel.members?.talkers.first(where: { $0.info.ssrc == ssrc })?.name == "Anna")
    }
}
