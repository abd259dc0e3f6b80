import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// Somebody takes a talker's SSRC in a pause, by an epoch of its own.
struct TakenSSRCTests {
    private typealias Scene = InterferenceTests.Scene

    private let relay = TinyRelay(Family.talk)
    private let interferer = Interferer()

    /// Its numbers are ahead: packets of the next press come before them.
    @Test(arguments: [100, 600, 5_000, 12_000, 20_000, 32_000], [0.5, 1.5, 6])
    func theNextPressIsHeardUnderAnSSRCOfItsOwn(ahead: Int, notice: Double) throws {
        let scene = Scene(relay, speech: Speech(isSpoken: { !(150..<600).contains($0) }))
        let press = Instant.start + .seconds(12)
        scene.air.run(until: press - .nanoseconds(Int64(notice * 1e9)))
        var (index, timestamp) = (scene.index.advanced(by: ahead), scene.timestamp)
        let epoch = Interferer.epoch(at: scene.air.now, ahead: .zero, timestamp: timestamp, random: 1)
        scene.inject(interferer.announcement(of: epoch, InterferenceTests.ssrc, index: index, at: scene.air.now))
        var announced = scene.air.now
        while scene.air.now < press + .seconds(10) {
            if scene.air.now - announced >= .seconds(1) {
                announced = scene.air.now
                scene.inject(interferer.announcement(of: epoch, InterferenceTests.ssrc, index: index, at: announced))
            }
            scene.inject(
                try interferer.packet(of: epoch, InterferenceTests.ssrc, index: index, timestamp: timestamp))
            (index, timestamp) = (index.advanced(by: 1), timestamp &+ 960)
            scene.air.run(seconds: 0.02)
        }
        #expect(scene.share(since: press, asItsOwn: false) >= 0.95)
        let played = try Playback(of: scene.listener.heard, until: scene.air.now).payloads
        let own = scene.listener.heard.filter {
            !Interferer.isForged($0) && $0.number >= 600 && played.contains($0.payload)
        }
        #expect(Double(Set(own.map(\.number)).count) >= 0.95 * 500)
        #expect(scene.interferences.count == 1)
        let late = scene.listener.heard.filter { $0.at >= press + .seconds(2) }
        let forged = Set(late.filter(Interferer.isForged).map(\.packet.ssrc))
        #expect(forged.count == 1)
        #expect(forged.isDisjoint(with: late.filter { !Interferer.isForged($0) }.map(\.packet.ssrc)))
    }

    /// The kinds of keys that somebody makes until a talker's might have no place.
    enum Flood: CaseIterable {
        case keysOfTheSSRC, ssrcs, keys

        var epochs: [(ssrc: UInt32, random: UInt128)] {
            switch self {
            case .keysOfTheSSRC: (1...9).map { (9, $0) }
            case .ssrcs: (1...70).map { (UInt32(100 + $0), $0) }
            case .keys: (1...150).map { (UInt32(100 + $0 / 3), $0) }
            }
        }
    }

    /// A talker has said a short word, and was silent until its key was used less than those that somebody makes now.
    @Test(arguments: Flood.allCases) func aTalkerThatWasHeardKeepsItsKey(flood: Flood) throws {
        let scene = Scene(relay, speech: Speech(isSpoken: { $0 < 15 || $0 >= 700 }))
        scene.air.run(seconds: 13)
        for (ssrc, random) in flood.epochs {
            let epoch = Interferer.epoch(at: scene.air.now, ahead: .zero, timestamp: 77, random: random)
            try scene.forge(epoch, SSRC(ssrc), index: scene.index.advanced(by: 5_000), timestamp: 77)
            scene.inject(
                try interferer.packet(
                    of: epoch, SSRC(ssrc), index: scene.index.advanced(by: 5_001), timestamp: 77 + 960))
        }
        let began = scene.air.now
        let epoch = Interferer.epoch(at: began, ahead: .zero, timestamp: 77, random: 1_000)
        var index = scene.index.advanced(by: 7_000)
        scene.inject(interferer.announcement(of: epoch, InterferenceTests.ssrc, index: index, at: began))
        while scene.air.now < .start + .seconds(20) {
            let timestamp = 77 &+ UInt32((scene.air.now - began) / .milliseconds(1)) * 48
            scene.inject(
                try interferer.packet(of: epoch, InterferenceTests.ssrc, index: index, timestamp: timestamp))
            index = index.advanced(by: 1)
            scene.air.run(seconds: 0.5)
        }
        #expect(scene.share(since: .start + .seconds(14), asItsOwn: true) >= 0.95)
    }
}
