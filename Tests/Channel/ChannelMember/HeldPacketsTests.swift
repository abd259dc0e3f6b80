import TenfourAudioCore
import TenfourPackets
import Testing

@testable import TenfourChannelMember

/// The packets that wait for the announcement of their key.
struct HeldPacketsTests {
    private var held = HeldPackets()

    private mutating func hold(
        _ number: UInt8, of ssrc: UInt32, isAnnounced: Bool = false, at milliseconds: Int = 0
    ) -> Bool {
        let packet = [UInt8](repeating: number, count: 20)
        return held.hold(
            packet.span, of: SSRC(ssrc), isAnnounced: isAnnounced, at: .start + .milliseconds(milliseconds))
    }

    /// Removes the released packets and returns their first bytes.
    private mutating func released() -> [UInt8] {
        var numbers: [UInt8] = []
        while let (place, _, _) = held.nextReleased() {
            numbers.append(held.packet(place)[0])
            held.remove(place)
        }
        return numbers
    }

    @Test mutating func packetsAreReleasedInTheOrderOfTheirArrival() {
        for number: UInt8 in 1...5 { #expect(hold(number, of: UInt32(number % 2))) }
        held.release(SSRC(1))
        #expect(released() == [1, 3, 5])
        #expect(held.count == 2)
        held.release(SSRC(0))
        #expect(released() == [2, 4])
        #expect(held.count == 0)
    }

    @Test mutating func strangersReplaceEachOtherAndNoAnnouncedPacket() {
        for number: UInt8 in 0..<5 { #expect(hold(number, of: 7, isAnnounced: true)) }
        for number: UInt8 in 0..<200 { _ = hold(number, of: 1_000 + UInt32(number)) }
        held.release(SSRC(7))
        #expect(released() == [0, 1, 2, 3, 4])
    }

    @Test mutating func oneStrangerDoesNotReplaceAllOthers() {
        for number: UInt8 in 0..<25 { _ = hold(number, of: 100 + UInt32(number)) }
        for number: UInt8 in 0..<100 { _ = hold(number, of: 9) }
        held.release(SSRC(9))
        #expect(released() == (92..<100).map { $0 }, "eight slots of an SSRC")
        #expect(held.count == 17)
    }

    @Test mutating func anOldPacketIsReplacedByAnyNewOne() {
        for number: UInt8 in 0..<25 { _ = hold(number, of: 7, isAnnounced: true) }
        let isRefused = !hold(99, of: 8, at: 1_000)
        #expect(isRefused)
        let hasReplaced = !hold(99, of: 8, at: 2_001)
        held.release(SSRC(8))
        #expect(hasReplaced && released() == [99])
    }
}
