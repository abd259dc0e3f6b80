import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import Testing

/// A talker who presses a key every 10 s and speaks for 6 s. Each talkspurt begins with 8 packets from before the key was
/// pressed, all sent at once. `jitter` is in milliseconds.
private func presses(jitter: Double, hasMarkers: Bool = true) -> SimulatedTalk {
    var chance = Chance(state: 5)
    let delays = (0..<6_000).map { number in
        let held = max(7 - number % 500, 0) * 960
        return FrameCount(held + Int(48 * max(1, 3 * jitter + jitter * chance.normal())))
    }
    var talk = SimulatedTalk()
    talk.isSpoken = { $0 % 500 < 300 }
    talk.startsTalkspurt = { hasMarkers && $0 % 500 == 0 }
    talk.delay = { delays[$0] }
    return talk
}

@Test(arguments: [0.0, 5, 15]) func theAudioBeforeTheKeyDoesNotRaiseTheDelay(jitter: Double) {
    var plain = SimulatedTalk()
    var chance = Chance(state: 5)
    let delays = (0..<6_000).map { _ in FrameCount(Int(48 * max(1, 3 * jitter + jitter * chance.normal()))) }
    plain.isSpoken = { $0 % 500 < 300 }
    plain.delay = { delays[$0] }
    var talk = presses(jitter: jitter)
    plain.run(seconds: 95.9)
    talk.run(seconds: 95.9)
    let (target, usual) = (talk.buffer.statistics.target, plain.buffer.statistics.target)
    #expect((target - usual).rawValue < 48 * 20, "\(target) instead of \(usual)")
    // Without the marker nobody can tell it from jitter.
    var unmarked = presses(jitter: jitter, hasMarkers: false)
    unmarked.run(seconds: 95.9)
    #expect((unmarked.buffer.statistics.target - usual).rawValue > 48 * 50)
}

@Test(arguments: [0.0, 5]) func playoutIsBackAtItsNormalDelayTwoSecondsAfterTheKey(jitter: Double) {
    var talk = presses(jitter: jitter)
    talk.run(seconds: 80.3)
    let start = talk.buffer.statistics
    #expect((start.delay - start.target).rawValue > 48 * 70, "the talkspurt begins late: \(start.delay)")
    talk.run(seconds: 2)
    let after = talk.buffer.statistics
    #expect((after.delay - after.target).rawValue < 48 * 41, "\(after.delay) for \(after.target)")
    talk.run(seconds: 3)
    let packets = talk.packets
    // Nothing of it is lost: all packets of the talkspurt were played.
    #expect(Set(packets).isSuperset(of: 4_000..<4_200))
}

/// Some senders mark every packet.
@Test func jitterCountsThoughEveryPacketIsMarked() {
    var chance = Chance(state: 7)
    let delays = (0..<3_000).map { _ in FrameCount(Int(48 * max(1, 60 + 20 * chance.normal()))) }
    var plain = SimulatedTalk()
    plain.delay = { delays[$0] }
    var marked = SimulatedTalk()
    marked.delay = { delays[$0] }
    marked.startsTalkspurt = { _ in true }
    plain.run(seconds: 50)
    marked.run(seconds: 50)
    let difference = marked.buffer.statistics.target - plain.buffer.statistics.target
    #expect(abs(difference.rawValue) < 48 * 5, "\(difference)")
}

/// The first timestamp is random, so the difference between the clocks may have either sign.
@Test(arguments: [UInt32(0), 0x7FFF_0000, 0x8000_0000, 0xFFFF_0000]) func theFirstTalkspurtBeginsAtOnce(first: UInt32) {
    for isPressed in [false, true] {
        var talk = SimulatedTalk()
        talk.firstTimestamp = RTPTimestamp(rawValue: first)
        talk.startsTalkspurt = { $0 == 0 }
        talk.delay = { FrameCount(isPressed ? max(7 - $0, 0) * 960 + 48 : 48) }
        talk.run(seconds: isPressed ? 0.25 : 0.1)
        #expect(!talk.packets.isEmpty, "\(isPressed)")
        talk.run(seconds: 3)
        #expect(talk.buffer.statistics.target < FrameCount(48 * 30), "\(talk.buffer.statistics.target)")
    }
}
