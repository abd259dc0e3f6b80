import TenfourAudioCore
import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

@testable import TenfourChannelMember

/// The age up to which media is heard where the relay proves itself: the relay, or somebody on the path, withholds or
/// replays what it has.
struct FreshnessTests {
    private func isForwarded(_ datagram: [UInt8]) -> Bool { RelayTrailer.isDue(datagram.span) }

    private func listener(
        _ number: Int = 1, isProven: Bool, isSynchronised: Bool = true, clock: WallClock? = nil
    ) -> Member {
        Member(
            number,
            Family.configuration(
                .listen, isSynchronised: isSynchronised, fingerprint: isProven ? Family.fingerprint : nil),
            ssrc: 5, clock: clock, seed: 3)
    }

    private func talker(isProven: Bool) -> Member {
        Member(
            0, Family.configuration(.talk, fingerprint: isProven ? Family.fingerprint : nil), ssrc: 9,
            speech: Speech(beginning: .start + .seconds(1), count: 50))
    }

    /// Returns the number of packets heard of a talk of one second that arrives late: its announcements, and its packets, by
    /// these numbers of seconds.
    private func heardCount(
        announcements: Double, media: Double, isProven: Bool = true, isSynchronised: Bool = true
    ) -> Int {
        let listener = listener(isProven: isProven, isSynchronised: isSynchronised)
        let air = Airwaves([talker(isProven: isProven), listener], RealRelay(key: Family.relayKey))
        var held: [(due: Instant, bytes: [UInt8])] = []
        air.loses = { [unowned air] datagram, member in
            guard member == 1, isForwarded(datagram) else { return false }
            held.append((air.now + .seconds(datagram[0] == 99 ? announcements : media), datagram))
            return true
        }
        air.run(seconds: 2.5)
        for (due, datagram) in held.sorted(by: { $0.due < $1.due }) {
            air.run(until: max(due, air.now))
            air.inject(datagram, to: 1)
        }
        #expect(held.count > 50 && listener.isJoined)
        return listener.heard.count
    }

    @Test func mediaIsHeardUpToTenSecondsAfterItWasSaid() {
        #expect(heardCount(announcements: 0, media: 1.9) == 50)
        #expect(heardCount(announcements: 9, media: 9) == 50)
        #expect(heardCount(announcements: 9.5, media: 9.9) == 50)
        #expect(heardCount(announcements: 11, media: 11) == 0)
    }

    /// The limit holds for each packet, not only for the first announcement.
    @Test func aPacketThatIsOlderIsRefusedAlsoIfItsAnnouncementWasInTime() {
        #expect(heardCount(announcements: 9.5, media: 11) == 0)
        #expect(heardCount(announcements: 9.5, media: 11, isProven: false) == 50)
    }

    @Test func aListenerWithoutASetClockKeepsTheLimitsOfOpenChannels() {
        #expect(heardCount(announcements: 9.5, media: 11, isSynchronised: false) == 50)
        #expect(heardCount(announcements: 100, media: 100, isSynchronised: false) == 50)
        #expect(heardCount(announcements: 125, media: 125, isSynchronised: false) == 0)
    }

    /// A listener that is started anew joins 8 s after a talk, and the relay sends it the whole talk again.
    @Test(arguments: [true, false]) func aListenerThatIsStartedAnewHearsNothingTwice(isProven: Bool) {
        let air = Airwaves(
            [talker(isProven: isProven), listener(isProven: isProven)], RealRelay(key: Family.relayKey))
        var said: [(at: Instant, bytes: [UInt8])] = []
        air.watch = { [unowned air] datagram, member in
            guard member == 1, isForwarded(datagram) else { return }
            said.append((air.now, Array(datagram.dropLast(isProven ? RelayTrailer.byteCount : 0))))
        }
        air.run(seconds: 3)
        #expect(air.members[1].heard.count == 50)
        let relay = RealRelay(key: Family.relayKey, seed: 2)
        let again = listener(0, isProven: isProven, clock: Airwaves.clock(at: .start + .seconds(8)))
        let later = Airwaves([again], relay)
        later.run(seconds: 1)
        for (moment, bytes) in said {
            later.run(until: moment)
            relay.send(bytes, to: again.endpoint)
            later.settleRelay()
        }
        later.run(seconds: 1)
        #expect(again.isJoined && again.heard.count == (isProven ? 0 : 50))
        if isProven { #expect(again.discards[.late] == 50, "\(again.discards)") }
    }

    /// A talker that is heard by one that has just joined was not recorded.
    @Test func aListenerThatJoinsDuringATalkHearsItAtOnce() {
        let talker = Member(
            0, Family.configuration(.talk, fingerprint: Family.fingerprint), ssrc: 9, speech: Speech())
        let air = Airwaves([talker], RealRelay(key: Family.relayKey))
        air.run(seconds: 5)
        let late = Member(
            1, Family.configuration(.listen, fingerprint: Family.fingerprint), ssrc: 5, at: air.now)
        air.add(late)
        air.run(seconds: 1)
        #expect(late.heard.count > 40 && late.discards[.late] == 0, "\(late.heard.count), \(late.discards)")
    }

    /// Two copies of one virtual machine have the same generator, and draw different epochs.
    @Test(arguments: [true, false]) func aCopyOfAMachineRepeatsNoEpoch(drawsFromTheSystem: Bool) {
        let epochs = (0..<2).map { _ in
            var configuration = Family.configuration(.talk)
            configuration.drawsFromSystem = drawsFromTheSystem
            let relay = TinyRelay(Family.talk)
            let air = Airwaves([Member(0, configuration, ssrc: 9, speech: Speech(count: 50))], relay)
            air.run(seconds: 2)
            return relay.announcements.map(\.epoch)
        }
        #expect(!epochs[0].isEmpty && (epochs[0] != epochs[1]) == drawsFromTheSystem)
    }
}
