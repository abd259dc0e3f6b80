import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourSession

/// What stations say of themselves in their reports (Protocol/03-loss-protection.md).
struct CapabilitiesTests {
    private static func said(_ text: String) -> Capabilities? {
        Capabilities(
            SourceDescription.Chunk(ssrc: SSRC(7), items: [SourceDescription.Item(privatePrefix: "tenfour", text)]))
    }

    @Test func theWordsAreThoseOfTheProtocol() throws {
        let all = Capabilities(
            supportsNACK: true, redPayloadType: 63, depth: .milliseconds(100), concealment: .deep)
        let text = try #require(all.item?.text(behindPrivatePrefix: "tenfour"))
        #expect(text == "nack red=63 depth=100 deep-plc")
        #expect(Self.said(text) == all)
    }

    /// A station of the version before says no word of concealment, and hears one that it does not know.
    @Test func anOlderStationIsHeardAndHearsTheRest() {
        let older = Capabilities(supportsNACK: true, redPayloadType: 63, depth: .milliseconds(100))
        #expect(Self.said("nack red=63 depth=100") == older)
        #expect(older.concealment == .plain)
        #expect(Self.said("nack red=63 depth=100 a-word-of-tomorrow and=7") == older, "as an older one reads ours")
    }

    @Test(arguments: ["deep-plc=1", "DEEP-PLC", "deepplc", "deep-plc-2"])
    func otherTextIsIgnored(word: String) {
        #expect(Self.said("nack \(word)")?.concealment == .plain)
    }

    @Test(arguments: LossProtectionConfiguration.Mode.allCases)
    func aReceiverWithoutCapabilitiesSendsNone(mode: LossProtectionConfiguration.Mode) {
        var configuration = LossProtectionConfiguration()
        configuration.concealment = .deep
        configuration.mode = mode
        let text = configuration.capabilities.item?.text(behindPrivatePrefix: "tenfour")
        #expect(text?.contains("deep-plc") == (mode == .off ? nil : true))
    }

    @Test func theWeakestOfSeveralReceiversCounts() {
        let (here, there) = (IPAddress.v4(0xC000_0201), IPAddress.v4(0xC000_0202))
        var receivers = Receivers()
        let deep = Capabilities(supportsNACK: true, concealment: .deep)
        receivers.update(SSRC(1), at: here, .start) { $0.capabilities = deep }
        receivers.update(SSRC(2), at: there, .start) { $0.capabilities = deep }
        #expect(receivers.capabilities(at: [here, there], otherwise: nil)?.concealment == .deep)
        // Of two behind one relay, one is older.
        receivers.update(SSRC(3), at: there, .start) { $0.capabilities = Capabilities(supportsNACK: true) }
        #expect(receivers.capabilities(at: [here, there], otherwise: nil)?.concealment == .plain)
    }
}
