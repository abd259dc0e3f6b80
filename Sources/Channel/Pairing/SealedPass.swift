package import TenfourChannelKeys

/// A channel's pass, sealed by a relay for the one station that has shown it a share of X25519.
package struct SealedPass: Hashable, Sendable {
    /// The relay's share, which is drawn for this pass.
    private let share: SharePoint
    private let sealed: [UInt8]

    package static let datagramByteCount = RendezvousMessage.headerByteCount + SharePoint.byteCount + sealedByteCount
    private static let sealedByteCount = 32 + AEAD.tagByteCount

    /// Seals `pass` for the station with the share `station`. Nil if this share is a point of low order, with which
    /// anybody could open the pass. `generator` must be unpredictable: the system's generator, outside tests.
    package init?(_ pass: ChannelPass, for station: SharePoint, using generator: inout some RandomNumberGenerator) {
        self.init(pass, for: station, by: KeyShare(using: &generator))
    }

    /// `own` must be drawn for this pass.
    init?(_ pass: ChannelPass, for station: SharePoint, by own: KeyShare) {
        guard let key = Self.key(own.agreement(with: station), station: station, relay: own.point) else { return nil }
        let head = Self.head(own.point)
        share = own.point
        sealed = [UInt8](capacity: Self.sealedByteCount) { datagram in
            key.withBytes { AEAD.seal(pass.bytes.span, counter: 1, data: head.span, key: $0, into: &datagram) }
        }
    }

    /// Reads a PASS; the caller must have checked its length and its first four bytes.
    init(parsing datagram: Span<UInt8>) {
        share = SharePoint(parsing: datagram, at: RendezvousMessage.headerByteCount)
        let start = RendezvousMessage.headerByteCount + SharePoint.byteCount
        sealed = (start..<Self.datagramByteCount).map { datagram[$0] }
    }

    /// Returns the pass; nil if it was not sealed for `station`.
    package func opened(by station: KeyShare) -> ChannelPass? {
        guard let key = Self.key(station.agreement(with: share), station: station.point, relay: share) else {
            return nil
        }
        let head = Self.head(share)
        var bytes = sealed
        var span = bytes.mutableSpan
        guard key.withBytes({ AEAD.open(&span, counter: 1, data: head.span, key: $0) }) else { return nil }
        return ChannelPass(bytes: bytes.dropLast(AEAD.tagByteCount))
    }

    func writeBody(into datagram: inout OutputSpan<UInt8>) {
        share.write(into: &datagram)
        datagram.append(sealed.span)
    }

    /// The bytes of PASS before the sealed ones, which are authenticated with them.
    private static func head(_ share: SharePoint) -> [UInt8] {
        [UInt8](capacity: RendezvousMessage.headerByteCount + SharePoint.byteCount) {
            RendezvousMessage.writeHeader(.pass, into: &$0)
            share.write(into: &$0)
        }
    }

    private static func key(_ agreed: SecretBytes?, station: SharePoint, relay: SharePoint) -> SecretBytes? {
        guard let agreed else { return nil }
        let salt = Array("tenfour 1 pass".utf8) + station.bytes + relay.bytes
        let root = agreed.withBytes { HKDF.extract(salt: salt.span, secret: $0) }
        return HKDF.expand(root, Array("pass".utf8), count: 32)
    }
}
