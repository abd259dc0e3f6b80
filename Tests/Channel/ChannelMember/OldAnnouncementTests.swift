import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// A relay gives the talkers' latest announcements to who joins. They may be old, and so seem to be of a clock that is behind.
struct OldAnnouncementTests {
    private let relay = TinyRelay(Family.talk)

    /// The talker's clock is 5 s ahead, so that an old announcement is closer to the listener's clock than a new one.
    @Test(arguments: 0...12, [14, 36]) func whoJoinsInAPauseHearsTheNextPress(join: Int, pause: Int) {
        let next = 100 + 50 * pause
        let talker = Member(
            0, Family.configuration(.talk), ssrc: 9, speech: Speech(isSpoken: { $0 < 100 || $0 >= next }),
            clock: WallClock(milliseconds: Airwaves.clock(at: .start).sinceEpoch + 5_000))
        let air = Airwaves([talker], relay)
        air.run(seconds: Double(2 + join))
        let listener = Member(1, Family.configuration(.listen), ssrc: 5, at: air.now)
        air.add(listener)
        air.run(until: .start + .seconds(2 + pause + 8))
        #expect(Set(relay.announcements.map(\.epoch)).count == 1)
        #expect(Set(listener.heard.map(\.number)).count { $0 >= next } >= 390)
        #expect(Set(listener.heard.map(\.packet.ssrc)) == [SSRC(9)])
        #expect(listener.channel.interferenceCount == 0)
    }
}
