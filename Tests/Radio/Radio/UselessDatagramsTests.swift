import Glibc
import TenfourAudioCore
import TenfourPackets
import TenfourSession
import TenfourUV
import Testing

@testable import TenfourRadio

struct UselessDatagramsTests {
    /// Two remotes refuse what we send: the talker reads of both, whichever was the last.
    @Test func eachRemoteThatRefusesIsNamed() {
        let remotes = (0..<3).map { Endpoint(.v4(0xC000_0201 + $0), port: 5_004) }
        var session = RTPSession(
            identity: Identity(ssrc: SSRC(9), seed: 1), configuration: RTPSessionConfiguration(remotes: remotes),
            at: .start)
        var useless = UselessDatagrams()
        var snapshot = RadioSnapshot(rtpSession: session, elapsed: .zero)
        var statistics = SocketStatistics()
        let payload: [UInt8] = [0xF8, 1, 2]
        for number in 0..<100 {
            let now = Instant.start + .milliseconds(20) * number
            session.send(payload.span, at: FrameCount(960 * number), startsTalkspurt: number == 0, now: now)
            for remote in remotes[..<2] { statistics.countFailure(ECONNREFUSED, to: remote, isOfNetwork: true) }
            if number % 5 == 0 { useless.update(&session, &snapshot, statistics, at: now) }
            session.timeElapsed(at: now)
        }
        let states = session.hearings(at: .start + .seconds(2)).map(\.state)
        #expect(states == [.refused, .refused, .notYetKnown])
    }
}
