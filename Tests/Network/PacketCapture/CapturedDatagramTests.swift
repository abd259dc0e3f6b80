import TenfourAudioCore
import TenfourPacketCapture
import TenfourSession
import Testing

private func datagram(_ bytes: [UInt8], _ linkType: Int = 1) throws(CapturedDatagram.SkipReason) -> CapturedDatagram {
    let packet = CapturedPacket(
        time: .start, linkType: LinkType(rawValue: UInt32(linkType)), bytes: bytes.indices,
        originalByteCount: bytes.count)
    return try CapturedDatagram(packet, in: bytes.span)
}

/// Expects a UDP datagram `hello` from 192.0.2.1:40000, or from 2001:db8::1, to port 5004 of the next higher address.
private func expectHello(
    _ bytes: [UInt8], _ linkType: Int = 1, isV6: Bool = false, _ location: SourceLocation = #_sourceLocation
)
    throws
{
    let found = try datagram(bytes, linkType)
    #expect(Array(bytes[found.payload]) == Wire.payload, sourceLocation: location)
    #expect("\(found.source)" == (isV6 ? "[2001:db8::1]:40000" : "192.0.2.1:40000"), sourceLocation: location)
    #expect("\(found.destination)" == (isV6 ? "[2001:db8::2]:5004" : "192.0.2.2:5004"), sourceLocation: location)
}

struct CapturedDatagramTests {
    @Test func aDatagramIsFoundBehindEachKindOfLink() throws {
        try expectHello(Wire.ethernet())
        try expectHello(Wire.ethernet(Wire.ipv6(), type: 0x86DD), isV6: true)
        try expectHello(Wire.ethernet(tags: [0x8100]))
        try expectHello(Wire.ethernet(tags: [0x88A8, 0x8100]))
        let cooked = [UInt8](repeating: 0, count: 14)
        try expectHello(cooked + [0x08, 0x00] + Wire.ipv4(), 113)
        try expectHello(cooked + [0x86, 0xDD] + Wire.ipv6(), 113, isV6: true)
        let behind = [UInt8](repeating: 0, count: 18)
        try expectHello([0x08, 0x00] + behind + Wire.ipv4(), 276)
        try expectHello([0x81, 0x00] + behind + [0, 5, 0x86, 0xDD] + Wire.ipv6(), 276, isV6: true)
        for type in [101, 12, 14] {
            try expectHello(Wire.ipv4(), type)
            try expectHello(Wire.ipv6(), type, isV6: true)
        }
        try expectHello(Wire.ipv4(), 228)
        try expectHello(Wire.ipv6(), 229, isV6: true)
        // BSD loopback headers in both byte orders; AF_INET6 is 30 on macOS and 28 on FreeBSD.
        for type in [0, 108] {
            try expectHello([2, 0, 0, 0] + Wire.ipv4(), type)
            try expectHello([0, 0, 0, 2] + Wire.ipv4(), type)
            try expectHello([30, 0, 0, 0] + Wire.ipv6(), type, isV6: true)
            try expectHello([0, 0, 0, 28] + Wire.ipv6(), type, isV6: true)
        }
    }

    @Test func optionsAndExtensionHeadersArePassed() throws {
        try expectHello(Wire.ethernet(Wire.ipv4(options: [UInt8](repeating: 1, count: 40))))
        let hop: [UInt8] = [60, 0, 1, 4, 0, 0, 0, 0]
        let options: [UInt8] = [17, 1] + [UInt8](repeating: 0, count: 14)
        try expectHello(Wire.ipv6(hop + options + Wire.udp(), next: 0), 229, isV6: true)
        let authentication: [UInt8] = [17, 4] + [UInt8](repeating: 0, count: 22)
        try expectHello(Wire.ipv6(authentication + Wire.udp(), next: 51), 229, isV6: true)
        let atomic: [UInt8] = [17, 0, 0, 0, 0, 0, 0, 9]
        try expectHello(Wire.ipv6(atomic + Wire.udp(), next: 44), 229, isV6: true)
    }

    /// A short Ethernet frame is padded to 60 bytes.
    @Test func paddingOfTheLinkIsNoPayload() throws {
        try expectHello(Wire.ethernet() + [UInt8](repeating: 0xEE, count: 13))
    }

    @Test func framesWithoutUDPAreSkippedWithAReason() {
        func expect(
            _ reason: CapturedDatagram.SkipReason, _ bytes: [UInt8], _ linkType: Int = 1,
            _ location: SourceLocation = #_sourceLocation
        ) {
            #expect(throws: reason, sourceLocation: location) { try datagram(bytes, linkType) }
        }
        expect(.unknownLink, Wire.ethernet(), 105)
        expect(.notIP, Wire.ethernet(type: 0x0806))
        expect(.notIP, [0, 0, 0, 7] + Wire.ipv4(), 0)
        expect(.notIP, [0x15], 101)
        expect(.notUDP, Wire.ethernet(Wire.ipv4(kind: 6)))
        expect(.notUDP, Wire.ethernet(Wire.ipv6(next: 58), type: 0x86DD))
        expect(.notUDP, Wire.ethernet(Wire.ipv6(next: 59), type: 0x86DD))
        expect(.fragment, Wire.ethernet(Wire.ipv4(fragment: 0x2000)))
        expect(.fragment, Wire.ethernet(Wire.ipv4(fragment: 0x0001)))
        expect(.fragment, Wire.ipv6([17, 0, 0, 1, 0, 0, 0, 9] + Wire.udp(), next: 44), 229)
        expect(.malformed, Wire.ethernet([0x44] + Wire.ipv4().dropFirst()))
        expect(.malformed, Wire.ethernet(Wire.ipv4(Wire.udp(byteCount: 7))))
        expect(.malformed, Wire.ethernet(Wire.ipv6(), type: 0x0800))
        expect(.cutOff, Wire.ethernet(Wire.ipv4(Wire.udp(byteCount: 14))))
    }

    @Test func aPacketThatWasKeptInPartIsCutOffWhereverThatWas() throws {
        for whole in [Wire.ethernet(tags: [0x8100]), Wire.ethernet(Wire.ipv6(), type: 0x86DD)] {
            for byteCount in whole.indices {
                #expect(throws: CapturedDatagram.SkipReason.cutOff) { try datagram(Array(whole[..<byteCount])) }
            }
        }
    }
}
