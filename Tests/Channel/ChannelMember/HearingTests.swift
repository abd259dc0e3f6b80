import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Whether a talker of a channel learns which members hear it, through the relay.
struct HearingTests {
    /// A talker with SSRC 9, and listeners with SSRC 101 and so on. Records what the talker learns of each.
    private final class Station {
        let air: Airwaves
        let talker: Member
        let listeners: [Member]
        let relay = RealRelay()
        /// The states that the talker has learnt, with the time in seconds.
        private(set) var learnt: [(at: Double, hearing: Hearing)] = []
        /// The members whose media from the relay is dropped.
        var deaf: Set<Int> = []
        /// The shares of due audio that each listener's playout conceals.
        var concealedShares: [Int: Double] = [:]
        private var due = FrameCount.zero
        private var concealed: [Int: Double] = [:]
        /// Whose audio is missing at which listener, and is no more, with the time in seconds.
        private(set) var missed: [(at: Double, listener: Int, isMissing: Bool)] = []
        private var eventCount = 0
        /// The bytes of media and of other datagrams on the talker's line, with IP and UDP, since `beginCounting`.
        private(set) var byteCounts = (media: 0, hearing: 0)

        init(
            _ count: Int, role: Role = .listen, network: NetworkModel = NetworkModel(delay: .milliseconds(20)),
            seed: UInt64 = 1, speech: Speech = Speech()
        ) {
            talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: speech)
            listeners = (1..<max(count, 1) + 1).prefix(count).map {
                Member($0, Family.configuration(role), ssrc: UInt32(100 + $0))
            }
            air = Airwaves([talker] + listeners, relay, network: network, seed: seed)
            air.loses = { [unowned self] datagram, member in isLost(datagram, at: member) }
        }

        private func isLost(_ datagram: [UInt8], at member: Int) -> Bool {
            let isMedia = (128...191).contains(datagram[0])
            if member == 0 {
                let isRecord = datagram[0] == 99 && datagram[2] == 6
                if isMedia { byteCounts.media += datagram.count + 28 }
                // A list has 36 bytes of the record, the type, 8 bytes, and 8 for each entry.
                let entryCount = min(listeners.count, 30)
                if isRecord, datagram.count == 45 + 8 * entryCount { byteCounts.hearing += datagram.count + 28 }
            }
            return isMedia && deaf.contains(member)
        }

        func beginCounting() { byteCounts = (0, 0) }

        var now: Double { Double(air.now.nanoseconds) / 1e9 }

        func run(until end: Double) {
            while now < end - 0.001 {
                air.run(seconds: 0.05)
                due += FrameCount(2_400)
                for (index, share) in concealedShares {
                    concealed[index, default: 0] += 2_400 * share
                    listeners[index - 1].rtpSession.playout(
                        of: SSRC(9), due: due, missing: .zero, concealed: FrameCount(Int(concealed[index] ?? 0)),
                        at: air.now)
                }
                for event in talker.stationEvents[eventCount...] {
                    if case .hearingChanged(let hearing) = event { learnt.append((now, hearing)) }
                }
                eventCount = talker.stationEvents.count
                for (index, listener) in listeners.enumerated() {
                    for event in listener.stationEvents {
                        if case .mediaMissing = event { missed.append((now, index + 1, true)) }
                        if case .mediaReturned = event { missed.append((now, index + 1, false)) }
                    }
                    listener.stationEvents.removeAll()
                }
            }
        }

        func learnt(after time: Double) -> [(at: Double, hearing: Hearing)] { learnt.filter { $0.at > time } }
        var hearings: [Hearing] { talker.rtpSession.hearings(at: air.now) }
        var states: [HearingState] { hearings.map(\.state) }
    }

    @Test(arguments: [1, 2, 7]) func aTalkerLearnsWithinTwoSecondsWhoHears(count: Int) {
        let station = Station(count)
        station.run(until: 2.5)
        #expect(station.states == Array(repeating: .hears, count: count))
        #expect(station.talker.rtpSession.memberCount == count)
        station.run(until: 60)
        #expect(station.learnt.count == count && station.learnt.allSatisfy { $0.hearing.state == .hears })
        station.talker.speech = nil
        station.run(until: 70)
        #expect(station.hearings.isEmpty, "nobody is asked while nothing is said")
    }

    /// The roster says whose number it is.
    @Test func aMemberThatMayTalkHasItsSSRC() {
        let station = Station(2, role: .talk)
        station.run(until: 5)
        #expect(Set(station.hearings.map(\.ssrc)) == [SSRC(101), SSRC(102)])
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>) func aListenerWithoutMediaIsNoticed(seed: UInt64) {
        let station = Station(3, seed: seed)
        let begin = 10 + Double(seed) * 0.13
        station.run(until: begin)
        #expect(station.states == [.hears, .hears, .hears])
        station.deaf = [2]
        station.run(until: begin + 10)
        let learnt = station.learnt(after: begin)
        #expect(learnt.map(\.hearing.state) == [.hearsNothing], "\(learnt)")
        #expect(learnt.allSatisfy { $0.at <= begin + 3 }, "\(learnt)")
        #expect(station.missed.map(\.listener) == [2] && station.missed[0].at <= begin + 2, "\(station.missed)")
        #expect(station.listeners[1].rtpSession.participants(at: station.air.now).map(\.isMissing) == [true])
        #expect(station.states.count { $0 == .hears } == 2)
        station.run(until: begin + 30)
        station.deaf = []
        station.run(until: begin + 40)
        let again = station.learnt(after: begin + 10)
        #expect(again.map(\.hearing.state) == [.hears])
        #expect(again.allSatisfy { $0.at <= begin + 32 }, "\(again)")
        #expect(station.missed.map(\.isMissing) == [true, false] && station.missed[1].at <= begin + 30.2)
    }

    /// The relay says when a talker stops, also while another one talks on.
    @Test(arguments: [0, 0.05, 0.2], 1...4 as ClosedRange<UInt64>)
    func audioThatEndsIsNotMissing(loss: Double, seed: UInt64) {
        let talkers = (0..<2).map { number in
            Member(
                number, Family.configuration(.talk), ssrc: UInt32(9 + number),
                speech: Speech(isSpoken: { ($0 / 50 / (3 + 4 * number)).isMultiple(of: 2) }))
        }
        let listener = Member(2, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves(
            talkers + [listener], RealRelay(),
            network: NetworkModel(loss: .random(loss), delay: .milliseconds(20)), seed: seed)
        air.run(seconds: 300)
        for member in air.members {
            let missing = member.stationEvents.filter { if case .mediaMissing = $0 { true } else { false } }
            #expect(missing.isEmpty, "\(missing)")
        }
    }

    /// A firewall at the listener drops all that comes from the relay, or all that goes there.
    @Test(arguments: [true, false]) func aListenerBehindAFirewallIsNoticed(dropsWhatComes: Bool) {
        for step in 0..<6 {
            let station = Station(2)
            let begin = 10 + Double(step) * 0.17
            station.run(until: begin)
            let wall = NetworkModel(loss: .random(1))
            station.air.change(1, out: dropsWhatComes ? nil : wall, back: dropsWhatComes ? wall : nil)
            station.run(until: begin + 5.5)
            let learnt = station.learnt(after: begin)
            #expect(learnt.map(\.hearing.state) == [dropsWhatComes ? .hearsNothing : .noAnswer], "\(learnt)")
            #expect(learnt.allSatisfy { $0.at <= begin + (dropsWhatComes ? 3 : 3.6) }, "\(learnt)")
        }
    }

    /// The listener counts the relay as lost after a second, and its pauses between two attempts to join grow to seconds.
    @Test(arguments: 1...20 as ClosedRange<UInt64>) func aFirewallThatOpensIsNoticed(seed: UInt64) {
        let station = Station(2, seed: seed)
        let begin = 10 + Double(seed) * 0.13
        station.run(until: begin)
        station.air.change(1, back: NetworkModel(loss: .random(1)))
        station.run(until: begin + 8)
        #expect(station.states.contains(.hearsNothing))
        let joined = station.listeners[0].events.count
        station.air.change(1, back: NetworkModel(delay: .milliseconds(20)))
        station.run(until: begin + 14)
        let again = station.learnt(after: begin + 8)
        #expect(again.map(\.hearing.state) == [.hears], "\(again)")
        #expect(again.allSatisfy { $0.at <= begin + 10 }, "\(again)")
        let returned = station.listeners[0].events[joined...]
        #expect(returned.count == 1, "\(returned)")
    }

    @Test func mediaThatNeverArrivedIsNoticed() {
        let station = Station(2)
        station.deaf = [1]
        station.run(until: 4)
        #expect(station.states.filter { $0 == .hearsNothing }.count == 1, "\(station.states)")
        #expect(station.states.filter { $0 == .hears }.count == 1)
    }

    /// The relay names a talker of whom nothing has ever come.
    @Test func aTalkerOfWhomNothingEverCameIsMissing() {
        let station = Station(2)
        station.deaf = [1]
        station.run(until: 6)
        #expect(station.missed.map(\.listener) == [1] && station.missed.allSatisfy { $0.isMissing && $0.at <= 3.5 })
        station.deaf = []
        station.run(until: 10)
        #expect(station.missed.map(\.isMissing) == [true, false], "\(station.missed)")
        #expect(station.missed.last.map { $0.at <= 6.2 } ?? false, "\(station.missed)")
    }

    /// The relay names the talker no more.
    @Test func theEndOfATalkerOfWhomNothingEverCameIsRead() {
        let station = Station(2)
        station.deaf = [1]
        station.run(until: 6)
        station.talker.speech = nil
        station.run(until: 10)
        #expect(station.missed.map(\.isMissing) == [true, false], "\(station.missed)")
        station.run(until: 30)
        #expect(station.missed.count == 2, "\(station.missed)")
    }

    @Test func aListenerThatDoesNotPlayIsNoListener() {
        let outputs: [(StationStatus.Output, HearingState)] = [(.muted, .muted), (.none, .noOutput)]
        for (output, state) in outputs {
            let station = Station(2)
            station.run(until: 5)
            station.listeners[0].rtpSession.setOutput(output, at: station.air.now)
            station.air.flush(1)
            station.run(until: 6.5)
            station.listeners[0].rtpSession.setOutput(.playing, at: station.air.now)
            station.air.flush(1)
            station.run(until: 8)
            #expect(station.learnt(after: 5).map(\.hearing.state) == [state, .hears])
        }
    }

    @Test func audioThatIsLateIsNotHeard() {
        let station = Station(2)
        station.run(until: 5)
        station.concealedShares = [1: 1]
        station.run(until: 9)
        #expect(station.states.contains(.playsNothing))
        station.concealedShares = [1: 0.3]
        station.run(until: 14)
        #expect(
            station.states.contains { if case .hearsBadly(let share) = $0 { abs(share - 0.3) < 0.03 } else { false } })
        station.concealedShares = [1: 0]
        station.run(until: 18)
        #expect(station.states == [.hears, .hears])
    }

    /// An old member ignores the request, and nothing is known of it. It is no alarm.
    @Test func nothingIsKnownOfAnOldMember() {
        let station = Station(2)
        station.listeners[0].isOld = true
        station.run(until: 20)
        #expect(Set(station.states) == [.hears, .cannotKnow])
        #expect(Set(station.learnt.map(\.hearing.state)) == [.hears, .cannotKnow])
    }

    @Test func nothingIsKnownBehindAnOldRelay() {
        let talker = Member(0, Family.configuration(.talk), ssrc: 9, speech: Speech())
        let listener = Member(1, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves([talker, listener], TinyRelay(Family.talk))
        air.run(seconds: 20)
        #expect(listener.heard.count > 900)
        #expect(talker.rtpSession.hearings(at: air.now).isEmpty)
    }

    @Test func aMemberThatLeavesIsNoPartner() {
        let station = Station(2)
        station.run(until: 5)
        station.listeners[0].leave(at: station.air.now)
        station.air.flush(1)
        station.run(until: 15)
        #expect(station.states == [.hears])
        #expect(station.learnt.allSatisfy { $0.hearing.state == .hears })
        #expect(station.talker.rtpSession.memberCount == 1)
    }

    @Test func aMemberThatJoinsIsAsked() {
        let station = Station(1)
        station.run(until: 5)
        let late = Member(2, Family.configuration(.listen), ssrc: 77, at: station.air.now)
        station.air.add(late)
        station.run(until: 8)
        #expect(station.states == [.hears, .hears])
    }

    /// Two talk at once, and each learns of the other and of the listeners.
    @Test func eachOfSeveralTalkersLearnsWhoHears() {
        let talkers = (0..<3).map { Member($0, Family.configuration(.talk), ssrc: UInt32(9 + $0), speech: Speech()) }
        let listener = Member(3, Family.configuration(.listen), ssrc: 5)
        let air = Airwaves(talkers + [listener], RealRelay())
        air.loses = { datagram, member in (128...191).contains(datagram[0]) && member == 3 && datagram[11] == 10 }
        air.run(seconds: 8)
        for talker in talkers {
            let states = talker.rtpSession.hearings(at: air.now).map(\.state)
            #expect(states.count == 3)
            #expect(states.count { $0 == .hears } == (talker.rtpSession.ssrc == SSRC(10) ? 2 : 3), "\(states)")
        }
    }

    /// Loss on all lines, jitter, discontinuous transmission and pauses of all lengths: no alarm is false.
    @Test(arguments: [0, 0.05, 0.2], 1...4 as ClosedRange<UInt64>) func noAlarmIsFalse(loss: Double, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var spoken: [Bool] = []
        while spoken.count < 50 * 120 {
            spoken += [Bool](repeating: true, count: Int.random(in: 20...400, using: &random))
            spoken += [Bool](repeating: false, count: [5, 19, 40, 75, 150, 400].randomElement(using: &random) ?? 0)
        }
        let talks = spoken
        let station = Station(
            3,
            network: NetworkModel(
                loss: .random(loss), delay: .milliseconds(20), jitter: .uniform(.zero ... .milliseconds(60))),
            seed: seed, speech: Speech(isSpoken: { $0 < talks.count && talks[$0] }))
        station.run(until: 120)
        let alarms: Set<HearingState> = [.hearsNothing, .noAnswer, .playsNothing]
        let learnt = station.learnt.filter { alarms.contains($0.hearing.state) }
        #expect(learnt.isEmpty, "\(learnt)")
        #expect(station.learnt.contains { $0.hearing.state == .hears })
        #expect(station.missed.isEmpty, "\(station.missed)")
    }

    /// Discontinuous transmission: a packet each 600 ms, and one 20 ms after it.
    @Test(arguments: [0, 0.05]) func silenceThatIsSentSeldomIsOneTransmission(loss: Double) {
        let station = Station(
            2, network: NetworkModel(loss: .random(loss), delay: .milliseconds(20)), seed: 3,
            speech: Speech(isSpoken: { $0 < 100 || $0 % 30 < 2 }))
        station.run(until: 120)
        #expect(station.learnt.allSatisfy { $0.hearing.state == .hears }, "\(station.learnt)")
        #expect(station.states == [.hears, .hears])
    }

    /// A path of 300 ms to each member is no reason for an alarm.
    @Test func aLongWayIsNoAlarm() {
        let station = Station(2, network: NetworkModel(delay: .milliseconds(300)))
        station.run(until: 60)
        #expect(station.states == [.hears, .hears])
        #expect(station.learnt.allSatisfy { $0.hearing.state == .hears }, "\(station.learnt)")
    }

    @Test(arguments: [1, 8, 30]) func listsTakeAtMostFivePercent(count: Int) {
        let station = Station(count)
        station.run(until: 10)
        station.beginCounting()
        station.run(until: 30)
        let (media, hearing) = station.byteCounts
        #expect(hearing > 0 && Double(hearing) <= 0.05 * Double(media), "\(hearing) of \(media)")
        #expect(station.hearings.count == min(count, 30))
        #expect(station.states.allSatisfy { $0 == .hears })
        #expect(station.talker.rtpSession.memberCount == count)
    }
}
