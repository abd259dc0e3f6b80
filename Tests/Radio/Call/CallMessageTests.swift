import TenfourChannelKeys
import Testing

@testable import TenfourCall

struct CallMessageTests {
    /// The bytes of Protocol/12-call.md.
    @Test func anInvitationHasTheBytesOfTheProtocol() {
        let message = CallMessage(.invitation, caller: 0x0123_4567_89AB_CDEF, name: "Alice")
        let start: [UInt8] = [
            0x72, 1, 1, 0, 0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        ]
        #expect(message.bytes == start + Array("Alice".utf8) + [UInt8](repeating: 0, count: 59))
        #expect(parsed(message.bytes) == message)
    }

    @Test func otherDatagramsAreIgnored() {
        let good = CallMessage(.refusal, detail: 2, caller: 1, callee: 2, name: "Bob").bytes
        #expect(parsed(good)?.detail == 2)
        for (place, byte) in [(0, 99), (1, 2), (2, 0), (2, 10), (3, 0), (3, 5), (20, 1), (23, 1), (87, 1)] {
            var other = good
            other[place] = UInt8(byte)
            #expect(parsed(other) == nil, "\(place)")
        }
        #expect(parsed(Array(good.dropLast())) == nil)
        #expect(parsed(good + [0]) == nil)
        #expect(parsed([]) == nil)
        var detailed = CallMessage(.ringing, caller: 1).bytes
        detailed[3] = 1
        #expect(parsed(detailed) == nil)
    }

    @Test func namesAreSafeToShowAndFit() {
        var bytes = CallMessage(.ringing, caller: 1).bytes
        for (place, byte) in zip(24..., "\u{1B}[31mEve\u{7}\n".utf8) { bytes[place] = byte }
        #expect(parsed(bytes)?.name == "\u{FFFD}[31mEve\u{FFFD}\u{FFFD}")
        let long = CallMessage(.ringing, caller: 1, name: String(repeating: "ü", count: 100))
        #expect(long.name == String(repeating: "ü", count: 32))
        #expect(parsed(long.bytes) == long)
        // Bytes that are no UTF-8 grow when they are replaced, and are cut.
        var invalid = CallMessage(.ringing, caller: 1).bytes
        for place in 24..<88 { invalid[place] = 0xFF }
        #expect(parsed(invalid).map { $0.name.utf8.count <= 64 } == true)
    }

    private func parsed(_ bytes: [UInt8]) -> CallMessage? { CallMessage(parsing: bytes.span) }
}
