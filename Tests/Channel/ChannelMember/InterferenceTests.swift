import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport
import Testing

/// Somebody with a listen link and the relay's address sends forged announcements with forged packets. The talker is heard
/// beside them, and nothing forged is heard as the talker's.
struct InterferenceTests {
    private let relay = TinyRelay(Family.talk)
    private let interferer = Interferer()
    static let ssrc = SSRC(9)

    /// The measured attack: several epochs ahead, each with one packet, and one announcement in four seconds.
    @Test(arguments: 1...20) func epochsAheadWithPacketsDoNotSilenceATalker(seed: UInt64) throws {
        var randomness = SeededRandom(seed: seed)
        let scene = Scene(relay)
        scene.air.run(seconds: .random(in: 1...5, using: &randomness))
        let start = scene.air.now
        let count = Int.random(in: 5...12, using: &randomness)
        let isTimed = Bool.random(using: &randomness)
        let interval = Duration.milliseconds(Int.random(in: 500...4_000, using: &randomness))
        var next = start
        var newest: Epoch?
        while scene.air.now < start + .seconds(20) {
            if scene.air.now >= next {
                next = scene.air.now + interval
                for number in 0..<(newest == nil ? count : 1) {
                    let epoch = Interferer.epoch(
                        at: scene.air.now, ahead: .milliseconds(100 * number + 1_500),
                        timestamp: isTimed ? scene.timestamp : nil, random: .random(in: 0 ... .max, using: &randomness))
                    let step = Bool.random(using: &randomness) ? 1 : Int.random(in: -900...30_000, using: &randomness)
                    try scene.forge(epoch, index: scene.index.advanced(by: step))
                    newest = epoch
                }
                if let newest {
                    scene.inject(
                        scene.interferer.announcement(
                            of: newest, Self.ssrc, index: scene.index.advanced(by: 5), at: scene.air.now))
                }
            }
            scene.air.run(seconds: 0.01)
        }
        #expect(scene.share(since: start, asItsOwn: true) >= 0.95)
        #expect(scene.forgedCount == 0)
        #expect(scene.interferences.count == 1)
        #expect(scene.listener.channel.interferenceCount >= count)
    }

    /// The attacker is there before the talker begins, so that its epochs are the newest.
    @Test(arguments: 1...10) func aTalkerThatBeginsDuringTheAttackIsHeard(seed: UInt64) throws {
        var randomness = SeededRandom(seed: seed)
        let scene = Scene(relay, speech: Speech(beginning: .start + .seconds(6)))
        scene.air.run(seconds: 1)
        while scene.air.now < .start + .seconds(20) {
            for _ in 0..<Int.random(in: 1...6, using: &randomness) {
                let epoch = Interferer.epoch(
                    at: scene.air.now, ahead: .milliseconds(Int.random(in: 500...4_500, using: &randomness)),
                    timestamp: 77, random: .random(in: 0 ... .max, using: &randomness))
                let index = PacketIndex(
                    rolloverCounter: 0, .init(rawValue: .random(in: 0 ... .max, using: &randomness)))
                try scene.forge(epoch, index: index, timestamp: 77)
            }
            scene.air.run(seconds: .random(in: 0.1...1, using: &randomness))
        }
        #expect(scene.share(since: .start + .seconds(6), asItsOwn: false) >= 0.95)
    }

    /// Forges packets of the talker's own epoch: far ahead by number, ahead by time, and with the number of the next packet.
    @Test(arguments: 1...20) func packetsOfTheTalkersEpochDoNotSilenceIt(seed: UInt64) throws {
        var randomness = SeededRandom(seed: seed)
        let scene = Scene(relay)
        scene.air.run(seconds: .random(in: 1...3, using: &randomness))
        let start = scene.air.now
        while scene.air.now < start + .seconds(20) {
            let epoch = try #require(scene.announced?.epoch)
            switch Int.random(in: 0...2, using: &randomness) {
            case 0:
                let index = scene.index.advanced(by: .random(in: 1_000...32_000, using: &randomness))
                try scene.forge(epoch, index: index)
            case 1:
                let early = UInt32.random(in: 2...30, using: &randomness) * 48_000
                try scene.forge(epoch, index: scene.index.advanced(by: 1), timestamp: scene.timestamp &+ early)
            default: try scene.forge(epoch, index: scene.index.advanced(by: 1), timestamp: scene.timestamp &+ 960)
            }
            scene.air.run(seconds: .random(in: 0.05...1, using: &randomness))
        }
        #expect(scene.share(since: start, asItsOwn: false) >= 0.95)
        #expect(scene.share(since: start, asItsOwn: true) >= 0.9)
        #expect(scene.interferences.count == 1)
    }

    /// Forges packets a little ahead by number, whose timestamps do not follow: they would put the talker's packets out of order.
    @Test(arguments: 1...10) func packetsUnderOneSSRCStayInOrder(seed: UInt64) throws {
        var randomness = SeededRandom(seed: seed)
        let scene = Scene(relay)
        scene.air.run(seconds: 2)
        let start = scene.air.now
        while scene.air.now < start + .seconds(10) {
            let epoch = try #require(scene.announced?.epoch)
            let time = UInt32(bitPattern: .random(in: -23_040...23_040, using: &randomness))
            try scene.forge(
                epoch, index: scene.index.advanced(by: .random(in: 2...100, using: &randomness)),
                timestamp: scene.timestamp &+ time)
            scene.air.run(seconds: .random(in: 0.02...0.1, using: &randomness))
        }
        let own = scene.listener.heard.map(\.packet).filter { $0.ssrc == Self.ssrc }
        var highest = try #require(own.first)
        for packet in own.dropFirst() {
            let step = packet.sequenceNumber.distance(after: highest.sequenceNumber)
            #expect((step > 0) == (packet.timestamp.distance(after: highest.timestamp).rawValue > 0))
            if step > 0 { highest = packet }
        }
        #expect(scene.share(since: start, asItsOwn: false) >= 0.95)
    }

    /// Somebody takes the SSRC in a pause with one epoch after another, and keeps all of them in use.
    @Test func keysMadeInAPauseDoNotSilenceTheNextPress() throws {
        let scene = Scene(relay, speech: Speech(isSpoken: { !(100..<1_600).contains($0) }))
        scene.air.run(seconds: 22)
        var index = scene.index
        for number in 0..<8 {
            let epoch = Interferer.epoch(
                at: scene.air.now, ahead: .milliseconds(100 * number), timestamp: 77, random: UInt128(number))
            scene.inject(scene.interferer.announcement(of: epoch, Self.ssrc, index: index, at: scene.air.now))
            scene.air.run(seconds: 0.6)
            for count in 0..<100 {
                index = index.advanced(by: 1)
                let timestamp = 77 + 48 * UInt32(600 + count * 5 / 2)
                scene.inject(try scene.interferer.packet(of: epoch, Self.ssrc, index: index, timestamp: timestamp))
                scene.air.run(seconds: 0.0025)
            }
        }
        #expect(scene.listener.heard.count { Interferer.isForged($0) } == 800)
        let start = Instant.start + .seconds(32)
        #expect(scene.air.now < start)
        scene.air.run(until: start + .seconds(10))
        #expect(scene.share(since: start, asItsOwn: false) >= 0.95)
    }

    /// Somebody sends a thousand numbers of the talker's epoch in a pause.
    @Test func numbersThatRunAheadInAPauseDoNotSilenceTheNextPress() throws {
        let scene = Scene(relay, speech: Speech(isSpoken: { !(100..<600).contains($0) }))
        scene.air.run(seconds: 4)
        let epoch = try #require(scene.announced?.epoch)
        let first = (scene.index, scene.timestamp &+ 96_000)
        for count in 0..<1_200 {
            let timestamp = first.1 &+ UInt32(count) * 120
            let index = first.0.advanced(by: count + 1)
            scene.inject(try scene.interferer.packet(of: epoch, Self.ssrc, index: index, timestamp: timestamp))
            scene.air.run(seconds: 0.0025)
        }
        #expect(scene.listener.heard.count { Interferer.isForged($0) } == 1_200)
        let start = Instant.start + .seconds(12)
        scene.air.run(until: start + .seconds(10))
        #expect(scene.share(since: start, asItsOwn: false) >= 0.95)
    }

    /// Somebody has the SSRC by another epoch, and sends each number of the talker's epoch before the talker does.
    @Test func numbersUsedBesideAnotherOwnerDoNotSilenceATalker() throws {
        let scene = Scene(relay, speech: Speech(isSpoken: { !(100..<250).contains($0) }))
        scene.air.run(seconds: 3.5)
        let own = try #require(scene.announced?.epoch)
        let other = Interferer.epoch(at: scene.air.now, ahead: .zero, timestamp: 77, random: 1)
        let began = scene.air.now
        var index = scene.index.advanced(by: 5_000)
        scene.inject(scene.interferer.announcement(of: other, Self.ssrc, index: index, at: began))
        while scene.air.now < .start + .seconds(15) {
            index = index.advanced(by: 1)
            let timestamp = 77 &+ UInt32((scene.air.now - began) / .milliseconds(1)) * 48
            scene.inject(try scene.interferer.packet(of: other, Self.ssrc, index: index, timestamp: timestamp))
            if scene.air.now > .start + .seconds(5) {
                scene.inject(
                    try scene.interferer.packet(
                        of: own, Self.ssrc, index: scene.index.advanced(by: 1), timestamp: scene.timestamp &+ 960))
            }
            scene.air.run(seconds: 0.02)
        }
        #expect(scene.share(since: .start + .seconds(5), asItsOwn: false) >= 0.95)
        #expect(scene.interferences.count == 1)
    }

    /// More SSRCs than there are places for talkers, each heard with a packet.
    @Test func talkersWhoDoNotExistLeaveRoomForOneWhoBegins() throws {
        let scene = Scene(relay, speech: Speech(beginning: .start + .seconds(6)))
        var randomness = SeededRandom(seed: 8)
        scene.air.run(seconds: 1)
        while scene.air.now < .start + .seconds(16) {
            for _ in 0..<20 {
                let epoch = Interferer.epoch(
                    at: scene.air.now, ahead: .zero, timestamp: 77, random: .random(in: 0 ... .max, using: &randomness))
                let ssrc = SSRC(.random(in: 100 ... .max, using: &randomness))
                try scene.forge(
                    epoch, ssrc, index: PacketIndex(rolloverCounter: 0, .init(rawValue: 5)), timestamp: 77)
            }
            scene.air.run(seconds: 0.1)
        }
        #expect(scene.listener.discards[.full] == 0)
        #expect(scene.share(since: .start + .seconds(6), asItsOwn: true) >= 0.95)
    }

    /// Loss, reordering, duplicates, jitter, next epochs, a relay that starts anew.
    @Test(arguments: 1...2) func anOrdinaryNetworkIsNoInterference(seed: UInt64) {
        let network = NetworkModel(
            loss: .random(0.05), delay: .milliseconds(30), reordering: Reordering(share: 0.05),
            duplication: Duplication(share: 0.1, after: .milliseconds(60)))
        var randomness = SeededRandom(seed: seed)
        let pauses = Int.random(in: 200...400, using: &randomness)
        let scene = Scene(relay, speech: Speech(isSpoken: { $0 % pauses > 60 }), network: network)
        scene.air.run(seconds: 400)
        relay.forgetAll()
        scene.air.run(seconds: 900)
        #expect(scene.listener.channel.interferenceCount == 0)
        #expect(Set(scene.listener.heard.map(\.packet.ssrc)) == [Self.ssrc])
        #expect(Set(relay.announcements.map(\.epoch)).count >= 3)
    }

    /// An access point stalls. Then it delivers at once what was in its queue, and the rest is lost.
    @Test(arguments: [0.5, 1.0, 1.9], [10, 30, 50]) func aStallWithAFullQueueIsNoInterference(stall: Double, queue: Int)
    {
        let scene = Scene(relay)
        scene.air.run(seconds: 3)
        for _ in 0..<3 {
            var waiting: [[UInt8]] = []
            scene.air.loses = { datagram, member in
                guard member == 1, (128...191).contains(datagram[0]) else { return false }
                if waiting.count < queue { waiting.append(datagram) }
                return true
            }
            scene.air.run(seconds: stall)
            scene.air.loses = nil
            for datagram in waiting { scene.inject(datagram) }
            scene.air.run(seconds: 5)
        }
        #expect(scene.listener.channel.interferenceCount == 0)
        #expect(Set(scene.listener.heard.map(\.packet.ssrc)) == [Self.ssrc])
    }

    /// Somebody has announced an epoch in time, and sends the talker's next number with a timestamp that does not follow.
    @Test(arguments: [-240_000, 240_000]) func anEpochWhoseTimestampDoesNotFollowDoesNotTakeTheSSRC(ahead: Int) throws {
        let scene = Scene(relay)
        scene.air.run(seconds: 3)
        let move = UInt32(truncatingIfNeeded: ahead)
        let epoch = Interferer.epoch(at: scene.air.now, ahead: .zero, timestamp: scene.timestamp &+ move, random: 1)
        scene.inject(interferer.announcement(of: epoch, Self.ssrc, index: scene.index, at: scene.air.now))
        scene.air.run(seconds: 0.6)
        let index = scene.index.advanced(by: 2)
        scene.inject(
            try interferer.packet(of: epoch, Self.ssrc, index: index, timestamp: scene.timestamp &+ 960 &+ move))
        scene.air.run(seconds: 3)
        #expect(scene.listener.heard.count { Interferer.isForged($0) } == 1)
        #expect(scene.forgedCount == 0)
        #expect(scene.share(since: .start + .seconds(3), asItsOwn: true) >= 0.98)
    }
}
