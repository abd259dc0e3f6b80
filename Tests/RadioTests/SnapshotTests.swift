import Engine
import Playout
import RTP
import Sound
import Testing

@testable import Radio

/// What is told of how a session goes.
struct SnapshotTests {
    /// The last voice may leave before anybody asks how it was.
    @Test func whatWasKnownOfAVoiceIsToldAfterItHasLeft() throws {
        let partner = Endpoint(.loopbackV4, port: 6_000)
        var station = Station(
            identity: Identity(ssrc: SSRC(1)), configuration: StationConfiguration(), at: .start)
        for number in [0, 1, 3] as [UInt16] {
            let datagram = [UInt8](capacity: 100) { datagram in
                RTPHeader(
                    marker: number == 0, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
                    timestamp: RTPTimestamp(rawValue: UInt32(number) * 960), ssrc: SSRC(9)
                ).write(into: &datagram)
                for byte in [0xF8, 1, 2] as [UInt8] { datagram.append(byte) }
            }
            _ = station.receive(datagram.span, from: partner, at: .start + .milliseconds(20 * Int(number)))
        }
        var report = PlaybackReport()
        report.listener.voices[0].ssrc = SSRC(9)
        report.listener.voices[0].isUsed = true
        report.listener.voices[0].isHeard = true

        var snapshot = SessionSnapshot(station: station, elapsed: .seconds(1))
        snapshot.add(report, present: station.sources, before: [])
        var voice = try #require(snapshot.voices.first)
        #expect(voice.endpoint == partner && voice.receivedCount == 3 && voice.lostCount == 1 && voice.isHeard)

        report.listener.voices[0].isHeard = false
        report.listener.voices[0].playout.decoded = FrameCount(2_880)
        var later = SessionSnapshot(station: station, elapsed: .seconds(2))
        later.add(report, present: [], before: snapshot.voices)
        voice = try #require(later.voices.first)
        #expect(voice.endpoint == nil && !voice.isHeard, "it has left")
        #expect(voice.receivedCount == 3 && voice.lostCount == 1, "and is not forgotten")
        #expect(voice.playout.decoded == FrameCount(2_880), "what was still to be heard counts")
    }
}
