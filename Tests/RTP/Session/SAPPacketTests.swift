import TenfourSession
import Testing

/// The bytes of announcements (RFC 2974 section 5).
struct SAPPacketTests {
    private let source = IPAddress("192.0.2.7")!

    @Test func anAnnouncementOverIPv4() {
        let bytes = SAPPacket(source: source, description: "v=0\n").bytes
        #expect(Array(bytes[..<2]) == [0x20, 0])
        #expect(Array(bytes[4..<8]) == [192, 0, 2, 7])
        #expect(bytes[8...].elementsEqual(Array("application/sdp\0v=0\n".utf8)))
    }

    @Test func anAnnouncementOverIPv6() {
        let bytes = SAPPacket(source: IPAddress("2001:db8::1")!, description: "v=0\n").bytes
        #expect(bytes[0] == 0x30)
        #expect(Array(bytes[4..<20]) == [0x20, 1, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
        #expect(bytes.count == 20 + 16 + 4)
    }

    @Test func aDeletionDiffersByItsFlagOnly() {
        var packet = SAPPacket(source: source, description: "v=0\n")
        let announcement = packet.bytes
        packet.isDeletion = true
        #expect(packet.bytes[0] == 0x24 && packet.bytes[1...] == announcement[1...])
    }

    @Test func eachDescriptionHasItsIdentifier() {
        let identifiers = (0..<100).map { number in
            Array(SAPPacket(source: source, description: "v=\(number)\n").bytes[2..<4])
        }
        #expect(Set(identifiers).count > 95 && !identifiers.contains([0, 0]))
    }

    @Test func theGroupsAreThoseOfTheProtocolAndOfPulseAudio() {
        func destinations(_ group: String) -> [String] {
            SAPPacket.destinations(for: IPAddress(group)!).map { "\($0)" }
        }
        #expect(destinations("239.0.1.10") == ["224.2.127.254:9875", "224.0.0.56:9875", "224.0.0.56:37670"])
        #expect(destinations("ff15::7") == ["[ff05::2:7ffe]:9875"])
    }
}
