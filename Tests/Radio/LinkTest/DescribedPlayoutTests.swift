import TenfourAudioCore
import TenfourLinkTest
import TenfourPackets
import TenfourSession
import Testing

@testable import TenfourRadio

/// From the text of a session description to the audio of the packets that it describes.
struct DescribedPlayoutTests {
    private static let dynamic = """
        m=audio 5004 RTP/AVP 96 97
        a=rtpmap:96 PCMU/8000
        a=rtpmap:97 PCMA/8000
        """
    private static let second = """
        m=audio 6200 RTP/AVP 98
        a=rtpmap:98 L16/48000/2
        m=audio 5004 RTP/AVP 96 97
        a=rtpmap:96 PCMU/8000
        a=rtpmap:97 PCMA/8000
        """

    /// Returns what is heard of two seconds of a tone with this payload type.
    private func heard(_ text: String, _ encoding: AudioEncoding, _ payloadType: UInt8) throws -> HeardTone {
        let description = try SessionDescription(parsing: text)
        #expect(description.port == 5_004)
        let configuration = try RadioConfiguration.receiving(description).rtpSessionAsCoded
        let session = RTPSession(identity: Identity(ssrc: SSRC(1)), configuration: configuration, at: .start)
        var tone = SentTone()
        (tone.encoding, tone.payloadType) = (encoding, payloadType)
        var receiver = try SimulatedReceiver(of: tone.ssrc, session: session)
        return HeardTone(try tone.packets(100) { .milliseconds(20 * $0) }, through: &receiver)
    }

    @Test(
        arguments: [
            "v=0\nc=IN IP4 127.0.0.1\n" + dynamic,
            "v=0\nc=IN IP4 127.0.0.1\n" + second,
            "v=0\r\nc=IN IP4 127.0.0.1\r\n" + second.replacing("\n", with: "\r\n"),
            "\u{FEFF}v=0\nc=IN IP4 127.0.0.1\n" + second,
            "    v=0\n    c=IN IP4 127.0.0.1\n    " + second.replacing("\n", with: "\n    "),
            "\u{FEFF}  v=0\n\tc=IN IP4 127.0.0.1\n\t" + dynamic.replacing("\n", with: "\n\t"),
        ], [(AudioEncoding.pcmu, 96), (.pcma, 97)] as [(AudioEncoding, UInt8)])
    func whatADescriptionNamesIsHeard(text: String, format: (encoding: AudioEncoding, payloadType: UInt8)) throws {
        let sound = try heard(text, format.encoding, format.payloadType)
        #expect((1.95...2.2).contains(sound.seconds) && sound.longestGap() == 0, "\(sound.seconds) s")
        // One law decoded as the other has another level.
        let peak = sound.samples.reduce(0) { max($0, abs($1)) }
        #expect((0.27...0.34).contains(peak), "\(peak)")
    }

    @Test func whatADescriptionDoesNotNameIsNotHeard() throws {
        let text = "v=0\nc=IN IP4 127.0.0.1\n" + Self.second
        #expect(try heard(text, .pcmu, 98).samples.isEmpty)
    }
}
