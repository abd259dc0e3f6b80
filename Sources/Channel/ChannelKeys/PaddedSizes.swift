/// The few sizes that a stream's payloads are padded to, so that their length tells little of what is said (RFC 6562).
public struct PaddedSizes: Hashable, Sendable {
    /// The payload at the stream's bit rate, in bytes, a multiple of 8.
    private let nominal: Int

    /// The most padding of an RTP packet, in bytes.
    static let maximumPadding = 255

    /// `nominal` is the payload at the stream's bit rate, in bytes; 1…1280.
    public init(nominal: Int) { self.nominal = (min(max(nominal, 1), 1280) + 7) / 8 * 8 }

    /// To how many bytes a payload of `byteCount` grows, padding and its count included.
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

    /// Pads an RTP packet that is not padded yet, with RTP's padding (RFC 3550 section 5.1), as far as there is room for it.
    /// `payload` is how many of its bytes are payload, `limit` how long it may become.
    public func pad(_ packet: inout OutputSpan<UInt8>, payload byteCount: Int, limit: Int = .max) {
        let room = min(packet.freeCapacity, limit - packet.count)
        let padding = min(size(of: byteCount) - byteCount, room, Self.maximumPadding)
        guard padding > 0, packet.count > 0 else { return }
        packet[0] |= 0x20
        packet.append(repeating: 0, count: padding - 1)
        packet.append(UInt8(padding))
    }
}
