import TenfourAudioCore
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourSeededRandom
import Testing

@testable import TenfourDirectWay

/// Members of the channel who use the direct way against others: they have valid keys.
struct HostileDirectTests {
    private static let channel = SimulatedMeeting.channelID
    private static let window = ProbeBudget.window

    /// A member that seals what it likes, and sends probes from any address.
    private struct Hostile {
        let index: UInt16
        let keys: PairKeys
        var salt: UInt128 = 0
        private var counter: UInt64 = 0
        private var probeCounter: UInt64 = 0

        init(_ index: UInt16, against other: UInt16, in meeting: SimulatedMeeting) throws {
            self.index = index
            let own = try #require(meeting.stations[index]?.identity)
            let key = try #require(meeting.stations[other]?.identity.key)
            keys = try #require(PairKeys(own, index, with: key, other, channelID: HostileDirectTests.channel))
        }

        mutating func candidates(view: PeerAddress, _ addresses: [PeerAddress]) -> [UInt8] {
            counter += 1
            guard let list = CandidateList(view: view, addresses) else { return [] }
            return SealedCandidates(.offered(list), counter: counter, salt: salt, with: keys).bytes
        }

        mutating func probe(salt other: UInt128, number: UInt64 = 1, isEcho: Bool = false) -> [UInt8] {
            probeCounter += 1
            let key = keys.probeKey(of: keys.own, salt: salt, receiver: other)
            return DirectProbe(
                from: keys.own, to: keys.other, counter: probeCounter, number: number, isEcho: isEcho, key: key
            ).bytes
        }
    }

    /// Anna, and two hostile members with public addresses.
    private func meeting() throws -> (SimulatedMeeting, [Hostile]) {
        var meeting = SimulatedMeeting(seed: 3)
        meeting.add(1, at: PeerAddress(v4: 0xCB00_7109, port: 5004))
        for index: UInt16 in [3, 4] {
            meeting.add(index, at: PeerAddress(v4: 0xC633_6470 + UInt32(index), port: 5004), usesDirect: false)
            meeting.relay(LimitedMedia(revision: 1, allowsDirect: true, indexes: []).bytes, from: index)
        }
        meeting.run(.milliseconds(200))
        return (meeting, try [3, 4].map { try Hostile($0, against: 1, in: meeting) })
    }

    /// Checks the bounds for every ten minutes, over all datagrams that Anna has sent, of which none was answered.
    private func checkBounds(_ meeting: SimulatedMeeting) throws -> Int {
        let anna = try #require(meeting.stations[1]?.host)
        let sent = try meeting.network.sent.filter { $0.source == anna }.map { datagram in
            (datagram.at, datagram.destination, try DirectProbe(parsing: datagram.bytes.span))
        }
        for (start, _, _) in sent {
            let part = sent.filter { $0.0 >= start && $0.0 < start + Self.window }
            for index: UInt16 in [3, 4] {
                let toMember = part.filter { $0.2.receiver == index }
                #expect(toMember.count { !$0.2.isEcho } <= 20)
                #expect(toMember.count { $0.2.isEcho } <= 20)
            }
            let toHosts = Dictionary(grouping: part) { $0.1.host }
            #expect(toHosts.values.allSatisfy { $0.count * DirectProbe.byteCount <= 200 })
        }
        let probes = sent.filter { !$0.2.isEcho }.map(\.0)
        #expect(zip(probes.dropFirst(), probes).allSatisfy { $0 - $1 >= .milliseconds(50) })
        #expect(sent.allSatisfy { $0.1.port >= 1024 && AddressReach($0.1) == .global })
        return sent.count
    }

    /// They name third addresses, other ports of one host, and begin new runs, once a second for 25 minutes.
    @Test func membersWhoNameThirdAddressesCauseNoMoreThanTheBounds() throws {
        var (meeting, hostile) = try meeting()
        meeting.step = .milliseconds(50)
        var randomness = SeededRandom(seed: 9)
        let victims: [UInt32] = [0x5DB8_D801, 0x5DB8_D802, 0x0808_0808]
        for second in 0..<1500 {
            for place in hostile.indices {
                hostile[place].salt = UInt128(randomness.next())
                let addresses = (0..<8).map { number in
                    let port = UInt16(1024 + (second * 8 + number) % 60_000)
                    let host = victims[(second / 200 + number) % 3]
                    if number == 7 { return PeerAddress(v6: 0x0064_FF9B << 96 | UInt128(host), port: port) }
                    let isRandom = second % 5 == 4
                    return PeerAddress(
                        v4: isRandom ? UInt32(truncatingIfNeeded: randomness.next()) : host, port: port)
                }
                let bytes = hostile[place].candidates(view: addresses[0], addresses)
                meeting.relay(bytes, from: hostile[place].index)
            }
            meeting.run(.seconds(1))
        }
        let count = try checkBounds(meeting)
        #expect((60...200).contains(count), "\(count) datagrams")
        #expect(meeting.stations[1]?.way?.discards[.boundReached] ?? 0 > 100)
    }

    /// They send probes with right tags from the addresses of others, which Anna would answer.
    @Test func probesFromForgedAddressesCauseNoMoreThanTheBounds() throws {
        var (meeting, hostile) = try meeting()
        let anna = try #require(meeting.stations[1]?.host)
        let salt = try #require(meeting.stations[3]?.candidates[1]?.salt)
        let own = try #require(meeting.stations[3]?.host)
        meeting.relay(hostile[0].candidates(view: own, [own]), from: 3)
        meeting.run(.milliseconds(200))
        for number in 0..<3000 {
            let victim = PeerAddress(v4: 0x5DB8_D800 + UInt32(number % 2), port: UInt16(2000 + number))
            meeting.network.spoof(hostile[0].probe(salt: salt), from: victim, to: anna)
            let local = PeerAddress(v4: 0xC0A8_0101, port: 5004)
            meeting.network.spoof(hostile[0].probe(salt: salt), from: local, to: anna)
            // An echo with a guessed number.
            let echo = hostile[0].probe(salt: salt, number: UInt64(number), isEcho: true)
            meeting.network.spoof(echo, from: victim, to: anna)
            meeting.run(.milliseconds(100))
        }
        let count = try checkBounds(meeting)
        #expect((5...40).contains(count), "\(count) datagrams")
        let discards = meeting.stations[1]?.way?.discards ?? [:]
        #expect(discards[.unexpectedEcho] ?? 0 > 1000 && discards[.forbiddenCandidate] ?? 0 > 1000)
        #expect(meeting.route(1, to: 3) == .relay)
    }

    /// A member says that the relay sees it at Anna's address, and names hosts of Anna's network.
    @Test func aFalseViewOpensNoPrivateNetwork() throws {
        var (meeting, hostile) = try meeting()
        let anna = try #require(meeting.stations[1]?.host)
        let inside = (1...8).map { PeerAddress(v4: 0xC0A8_0100 + $0, port: 8080) }
        meeting.relay(hostile[0].candidates(view: anna, inside), from: 3)
        meeting.run(.seconds(5))
        #expect(meeting.network.sent.allSatisfy { AddressReach($0.destination) == .global })
        #expect(meeting.stations[1]?.way?.discards[.candidateElsewhere] ?? 0 >= 8)
    }

    @Test func nothingIsBelievedWithoutTheKeysOfThePair() throws {
        var (meeting, hostile) = try meeting()
        let now = meeting.now
        var way = try #require(meeting.stations[1]?.way)
        let own = try #require(meeting.stations[3]?.host)
        let salt = try #require(meeting.stations[3]?.candidates[1]?.salt)
        var record = hostile[0].candidates(view: own, [own])
        var candidates = try SealedCandidates(parsing: record.span)
        // The relay says that they are from another member, or from nobody.
        candidates.index = 4
        way.receive(candidates, at: now)
        candidates.index = 9
        way.receive(candidates, at: now)
        #expect(way.discards == [.forged: 1, .notAMember: 1])
        candidates.index = 3
        way.receive(candidates, at: now)
        way.receive(candidates, at: now)
        #expect(way.discards[.replayed] == 1)
        // Candidates of a former run.
        hostile[0].salt = 7
        record = hostile[0].candidates(view: own, [own])
        var next = try SealedCandidates(parsing: record.span)
        next.index = 3
        way.receive(next, at: now)
        way.receive(candidates, at: now)
        #expect(way.discards[.replayed] == 2)
        // Probes: of a former run, changed, and twice.
        let probe = hostile[0].probe(salt: salt)
        var changed = probe
        changed[39] ^= 1
        hostile[0].salt = 0
        let old = hostile[0].probe(salt: salt)
        way.receive(probe: old.span, from: own, at: now)
        way.receive(probe: changed.span, from: own, at: now)
        #expect(way.discards[.forged] == 3 && way.nextDatagram() == nil)
        way.receive(probe: probe.span, from: own, at: now)
        way.receive(probe: probe.span, from: own, at: now)
        #expect(way.discards[.replayed] == 3 && way.nextDatagram() != nil && way.nextDatagram() == nil)
    }

    @Test(arguments: [
        ("10.0.0.1", AddressReach.local), ("172.16.0.1", .local), ("172.31.255.255", .local), ("172.32.0.1", .global),
        ("192.168.255.1", .local), ("100.63.255.255", .global), ("100.64.0.1", .local), ("100.127.255.255", .local),
        ("100.128.0.1", .global), ("169.254.1.1", .local), ("169.253.1.1", .global), ("0.0.0.0", .forbidden),
        ("0.1.2.3", .forbidden), ("127.0.0.1", .forbidden), ("127.255.255.255", .forbidden),
        ("224.0.0.1", .forbidden), ("239.1.2.3", .forbidden), ("240.0.0.1", .forbidden),
        ("255.255.255.255", .forbidden), ("8.8.8.8", .global), ("223.255.255.255", .global),
    ])
    func anIPv4AddressIsJudged(text: String, reach: AddressReach) {
        let number = text.split(separator: ".").compactMap { UInt32($0) }.reduce(0) { $0 << 8 | $1 }
        #expect(AddressReach(PeerAddress(v4: number, port: 5004)) == reach)
        let inside = UInt128(number)
        #expect(AddressReach(PeerAddress(v6: 0xFFFF << 32 | inside, port: 5004)) == reach, "mapped")
        #expect(AddressReach(PeerAddress(v6: 0x0064_FF9B << 96 | inside, port: 5004)) == reach, "NAT64")
        #expect(AddressReach(PeerAddress(v6: 0x2002 << 112 | inside << 80 | 1, port: 5004)) == reach, "6to4")
    }

    @Test(arguments: [
        ("0", AddressReach.forbidden), ("1", .forbidden), ("08080808", .forbidden),
        ("20010db8000000000000000000000000", .global), ("20010000000000000000000000000005", .forbidden),
        ("fc000000000000000000000000000000", .local), ("fdff0000000000000000000000000001", .local),
        ("fe800000000000000000000000000001", .forbidden), ("fec00000000000000000000000000001", .forbidden),
        ("ff020000000000000000000000000001", .forbidden), ("0064ff9b000100000000000000000001", .forbidden),
        ("3fff0000000000000000000000000000", .global), ("40000000000000000000000000000000", .forbidden),
        ("01000000000000000000000000000001", .forbidden),
    ])
    func anIPv6AddressIsJudged(digits: String, reach: AddressReach) throws {
        let number = try #require(UInt128(digits, radix: 16))
        #expect(AddressReach(PeerAddress(v6: number, port: 5004)) == reach)
    }

    @Test func portsTheRelayAndNetworksAreJudged() {
        let view = PeerAddress(v4: 0xCB00_7109, port: 40_000)
        let relay = PeerAddress(v4: 0xC633_6401, port: 5004)
        let other = PeerAddress(v4: 0xCB00_7109, port: 41_000)
        let home = PeerAddress(v4: 0xC0A8_0101, port: 5004)
        var judge = CandidateJudge(view: view, relays: [relay], sharesNetwork: true)
        #expect(judge.verdict(on: home, otherView: other) == .used)
        #expect(judge.verdict(on: home, otherView: relay) == .elsewhere)
        #expect(judge.verdict(on: PeerAddress(v4: 0x0808_0808, port: 1023), otherView: other) == .forbidden)
        #expect(judge.verdict(on: PeerAddress(v4: 0x0808_0808, port: 1024), otherView: other) == .used)
        #expect(judge.verdict(on: PeerAddress(v4: 0xC633_6401, port: 9000), otherView: other) == .forbidden)
        let translated = PeerAddress(v6: 0x0064_FF9B << 96 | 0xC633_6401, port: 9000)
        #expect(judge.verdict(on: translated, otherView: other) == .forbidden)
        judge.sharesNetwork = false
        #expect(judge.verdict(on: home, otherView: other) == .elsewhere)
        // A view that is private itself says nothing.
        judge = CandidateJudge(view: home, relays: [relay], sharesNetwork: true)
        #expect(judge.verdict(on: home, otherView: home) == .elsewhere)
        let prefix: UInt128 = 0x2001_0DB8_0000_0001 << 64
        judge = CandidateJudge(view: PeerAddress(v6: prefix | 1, port: 2000), relays: [], sharesNetwork: true)
        let local = PeerAddress(v6: 0xFD00 << 112 | 7, port: 5004)
        #expect(judge.verdict(on: local, otherView: PeerAddress(v6: prefix | 2, port: 2000)) == .used)
        #expect(judge.verdict(on: local, otherView: PeerAddress(v6: prefix + 1 << 64, port: 2000)) == .elsewhere)
    }
}
