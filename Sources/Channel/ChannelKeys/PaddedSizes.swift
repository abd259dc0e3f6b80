/// The few sizes to which a stream's payloads are padded, so that their length reveals little of the speech (RFC 6562).
public struct PaddedSizes: Hashable, Sendable {
    /// The size of a payload at the stream's bit rate, in bytes, rounded up to a multiple of 8.
    private let nominal: Int

    /// The maximum padding of an RTP packet, in bytes, including the padding's length byte.
    static let maximumPadding = 255

    /// `nominal` is the size of a payload at the stream's bit rate, in bytes; 1…1280.
    public init(nominal: Int) { self.nominal = (min(max(nominal, 1), 1280) + 7) / 8 * 8 }

    /// Returns the size in bytes to which a payload of `byteCount` bytes is padded, including the padding's length
    /// byte.
    public func size(of byteCount: Int) -> Int {
        let most = 4 * nominal
        let wanted =
            if byteCount <= nominal * 5 / 4 {
                nominal * 5 / 4
            } else if byteCount <= 2 * nominal {
                2 * nominal
            } else {
                (byteCount + most - 1) / most * most
            }
        guard wanted - byteCount > Self.maximumPadding else { return wanted }
        return byteCount + Self.maximumPadding - (byteCount + Self.maximumPadding) % 8
    }

    /// Adds RTP padding (RFC 3550 section 5.1) to an RTP packet without padding; adds less if `packet` has no room or
    /// the packet would exceed `limit` bytes. `byteCount` is the size of the packet's payload.
    public func pad(_ packet: inout OutputSpan<UInt8>, payload byteCount: Int, limit: Int = .max) {
        let room = min(packet.freeCapacity, limit - packet.count)
        let padding = min(size(of: byteCount) - byteCount, room, Self.maximumPadding)
        guard padding > 0, packet.count > 0 else { return }
        packet[0] |= 0x20
        packet.append(repeating: 0, count: padding - 1)
        packet.append(UInt8(padding))
    }
}
