import TenfourPackets
import Testing

@testable import TenfourChannelMember

/// The packets that a key has decrypted.
struct RecentPacketsTests {
    private var recent = RecentPackets()

    private func packet(_ number: UInt16, _ payload: UInt8, tag: [UInt8] = [1, 2, 3, 4]) -> RecentPackets.Digest {
        let header: [UInt8] = [128, 111, UInt8(number >> 8), UInt8(truncatingIfNeeded: number), 0, 0, 0, 1, 0, 0, 0, 9]
        return RecentPackets.Digest(of: (header + [payload, 7, 7] + tag).span)
    }

    @Test mutating func theSameBytesAreKnownAgain() {
        for number: UInt16 in 0..<1_024 { recent.insert(packet(number, 5)) }
        for number: UInt16 in 0..<1_024 { #expect(recent.contains(packet(number, 5))) }
        recent.insert(packet(1_024, 5))
        #expect(!recent.contains(packet(0, 5)) && recent.contains(packet(1_024, 5)))
    }

    /// The authentication tag can be chosen by somebody who has the key.
    @Test mutating func anotherPacketWithTheSameNumberAndTagIsNotKnown() {
        recent.insert(packet(7, 5))
        #expect(!recent.contains(packet(7, 6)))
        #expect(!recent.contains(packet(7, 5, tag: [1, 2, 3, 5])))
        #expect(!recent.contains(packet(8, 5)))
    }
}
