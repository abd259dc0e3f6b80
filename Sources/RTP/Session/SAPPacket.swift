internal import TenfourPackets

/// A packet that announces a session to everybody in the network, or takes the announcement back (Session Announcement
/// Protocol, RFC 2974). Its payload is a session description.
package struct SAPPacket: Sendable, Equatable {
    /// Whether the packet takes the announcement back.
    package var isDeletion: Bool
    /// The address of the announcing machine.
    package var source: IPAddress
    /// The session's description. PulseAudio understands it only if its lines end with LF.
    package var description: String

    /// The port of SAP.
    private static let port: UInt16 = 9_875
    /// The port on which PulseAudio 17.0 listens: that of SAP with its bytes exchanged. Later versions use SAP's.
    private static let portOfPulseAudio17 = port.byteSwapped

    package init(isDeletion: Bool = false, source: IPAddress, description: String) {
        self.isDeletion = isDeletion
        self.source = source
        self.description = description
    }

    /// The groups and ports to which a session on `group` is announced: for IPv4 those of RFC 2974, and of PulseAudio and
    /// PipeWire, for IPv6 that of RFC 2974 with the scope of `group`.
    package static func destinations(for group: IPAddress) -> [Endpoint] {
        switch group {
        case .v4:
            [
                Endpoint(.v4(0xE002_7FFE), port: port), Endpoint(.v4(0xE000_0038), port: port),
                Endpoint(.v4(0xE000_0038), port: portOfPulseAudio17),
            ]
        case .v6(let high, _, let scope):
            [Endpoint(.v6(high: 0xFF << 56 | high & 0x0F << 48, low: 0x2_7FFE, scope: scope), port: port)]
        }
    }

    /// The bytes of the packet (RFC 2974 section 5).
    package var bytes: [UInt8] {
        let mediaType = "application/sdp"
        return [UInt8](capacity: 24 + mediaType.utf8.count + 1 + description.utf8.count) { bytes in
            var flags: UInt8 = 1 << 5
            if case .v6 = source { flags |= 1 << 4 }
            if isDeletion { flags |= 1 << 2 }
            bytes.append(flags)
            bytes.append(0)
            bytes.append(bigEndian: identifier)
            switch source {
            case .v4(let number): bytes.append(bigEndian: number)
            case .v6(let high, let low, _):
                for word in [high >> 32, high, low >> 32, low] {
                    bytes.append(bigEndian: UInt32(truncatingIfNeeded: word))
                }
            }
            for byte in mediaType.utf8 { bytes.append(byte) }
            bytes.append(0)
            for byte in description.utf8 { bytes.append(byte) }
        }
    }

    /// The message identifier hash: another one for each description, and never zero.
    private var identifier: UInt16 {
        let hash = SAPPacket.hash(description)
        return max(UInt16(truncatingIfNeeded: hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48), 1)
    }

    /// Returns the same number for the same text in every process (FNV-1a).
    package static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }
}
