import TenfourAudioCore
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

@testable import TenfourChannelMember

/// Members whose relay has proved itself, and that hear media of this relay only.
struct RelayTrailerTests {
    private let relay = RealRelay(key: Family.relayKey)

    private func member(
        _ number: Int, _ role: Role, ssrc: UInt32, speech: Speech? = nil, lastCounter: UInt32? = nil
    ) -> Member {
        var configuration = Family.configuration(role, fingerprint: Family.fingerprint)
        if let lastCounter { configuration.lastTrailerCounter = lastCounter }
        return Member(number, configuration, ssrc: ssrc, speech: speech)
    }

    @Test func everyPacketOfTheRelayEndsInATrailerThatIsRemoved() {
        let talker = member(0, .talk, ssrc: 1, speech: Speech(count: 100))
        let listener = member(1, .listen, ssrc: 2)
        let air = Airwaves([talker, listener], relay)
        var lengths: Set<Int> = []
        air.watch = { datagram, number in
            if number == 1, RelayTrailer.isDue(datagram.span) { lengths.insert(datagram.count) }
        }
        air.run(seconds: 3)
        let numbers = listener.heard.map(\.number)
        #expect(numbers == Array(numbers[0]..<100) && numbers[0] < 20)
        #expect(lengths.contains(56 + 12) && lengths.count > 1 && lengths.allSatisfy { $0 >= 56 + 12 })
        #expect(listener.discards.total == 0, "\(listener.discards)")
    }

    /// Retransmissions have counters of their own.
    @Test func lostPacketsAreHeardFromTheRelaysMemory() {
        let talker = member(0, .talk, ssrc: 1, speech: Speech(count: 250))
        let listener = member(1, .listen, ssrc: 2)
        let air = Airwaves([talker, listener], relay)
        var (count, lost) = (0, 0)
        air.loses = { [unowned air] datagram, number in
            guard number == 1, (128...191).contains(datagram[0]), air.now > .start + .seconds(2) else { return false }
            count += 1
            let isLost = count % 10 == 0
            if isLost { lost += 1 }
            return isLost
        }
        air.run(seconds: 7)
        let heard = Set(listener.heard.map(\.number))
        #expect(lost >= 14 && heard.isSuperset(of: 50..<245), "\(lost) lost, \(heard.count) heard")
        #expect(listener.discards[.notFromRelay] == 0)
    }

    @Test func whoHasAllKeysOfAListenLinkForgesNothing() throws {
        let talker = member(0, .talk, ssrc: 1, speech: Speech())
        let listener = member(1, .listen, ssrc: 2)
        let air = Airwaves([talker, listener], relay)
        air.run(seconds: 1)
        let media = try Impostor(showsTheRelaysKey: true).media(count: 1_000)
        for (number, datagram) in media.enumerated() {
            // Without a trailer, and with one whose counter would be next.
            air.inject(datagram, to: 1)
            air.inject(
                datagram + [0, 0, UInt8(number >> 8), UInt8(number & 255)] + [UInt8](repeating: 7, count: 8), to: 1)
            if number % 20 == 0 { air.run(seconds: 0.02) }
        }
        #expect(listener.heard(from: 7).isEmpty && listener.discards[.notFromRelay] == 2 * media.count)
        let numbers = listener.heard(from: 1).map(\.number)
        #expect(listener.heard.count == numbers.count && numbers == Array(numbers[0]...numbers[numbers.count - 1]))
        // The same datagrams are heard by a listener of an open channel.
        let trusting = Member(0, Family.configuration(.listen), ssrc: 3)
        let other = Airwaves([trusting], RealRelay())
        other.run(seconds: 1)
        for datagram in media { other.inject(datagram, to: 0) }
        #expect(trusting.heard(from: 7).count > 900)
    }

    @Test func aDatagramOfTheRelayIsTakenOnce() {
        let talker = member(0, .talk, ssrc: 1, speech: Speech(count: 100))
        let listener = member(1, .listen, ssrc: 2)
        let air = Airwaves([talker, listener], relay)
        var datagrams: [[UInt8]] = []
        air.watch = { datagram, number in
            if number == 1, RelayTrailer.isDue(datagram.span) { datagrams.append(datagram) }
        }
        air.run(seconds: 3)
        let heard = listener.heard.count
        for datagram in datagrams { #expect(air.inject(datagram, to: 1) == .discarded(.replayed)) }
        #expect(listener.heard.count == heard && datagrams.count > 100)
    }

    /// The listener joins again each time the counter is used up. Packets of the old session that are on their way are
    /// heard.
    @Test func aSessionIsMadeAgainBeforeTheCounterEndsAndNothingIsMissed() {
        let talker = member(0, .talk, ssrc: 1, speech: Speech())
        let listener = member(1, .listen, ssrc: 2, lastCounter: 200)
        let air = Airwaves([talker, listener], relay, network: NetworkModel(delay: .milliseconds(60)))
        var welcomeCount = 0
        air.watch = { datagram, number in
            if number == 1, datagram[0] == 99, datagram[2] == 12 { welcomeCount += 1 }
        }
        air.run(seconds: 20)
        let numbers = listener.heard.map(\.number)
        let isWhole = numbers == Array(numbers[0]...numbers[numbers.count - 1]) && numbers.count > 950
        #expect(isWhole && (4...8).contains(welcomeCount), "\(welcomeCount) sessions, \(numbers.count) packets")
        #expect(listener.discards[.notFromRelay] == 0)
    }
}
