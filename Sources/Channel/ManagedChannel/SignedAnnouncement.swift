public import TenfourChannelKeys

/// An announcement with the name of the member who made it: the owner's number for the member, and the member's
/// signature (Protocol/13-members.md). It takes the place of `Announcement` in a managed channel.
public struct SignedAnnouncement: Hashable, Sendable {
    public let content: AnnouncedEpoch
    /// The version of the roster that the talker holds.
    public let rosterVersion: UInt32
    public let index: UInt16
    private let signature: Signature
    private let tag: UInt128

    /// The length in bytes, without the header of a control datagram.
    public static let byteCount = 124
    private static let authenticatedByteCount = 108

    /// Makes and signs an announcement. `root` is the group media root.
    public init(
        _ content: AnnouncedEpoch, rosterVersion: UInt32, index: UInt16, by identity: MemberIdentity,
        channelID: UInt128,
        under root: MediaRoot
    ) {
        self.content = content
        self.rosterVersion = rosterVersion
        self.index = index
        let message = Self.message(content, rosterVersion, index, channelID)
        let signature = identity.sign(message)
        self.signature = signature
        tag = root.announcementTag(of: Self.authenticated(content, rosterVersion, index, signature).span)
    }

    /// Parses 124 bytes. Authenticates nothing: `AnnouncementVerifier` does.
    public init(parsing bytes: Span<UInt8>) throws(ControlParseError) {
        guard bytes.count == Self.byteCount else { throw .length(bytes.count) }
        content = try AnnouncedEpoch(parsing: bytes.extracting(0..<AnnouncedEpoch.byteCount))
        guard bytes.isZero(in: 42..<44) else { throw .value }
        rosterVersion = bytes.number(at: 36)
        index = bytes.number(at: 40)
        signature = Signature(parsing: bytes, at: 44)
        tag = bytes.number(at: Self.authenticatedByteCount)
    }

    public var bytes: [UInt8] {
        [UInt8](capacity: Self.byteCount) { bytes in
            bytes.append(Self.authenticated(content, rosterVersion, index, signature).span)
            bytes.append(number: tag)
        }
    }

    /// Whether a member that has the group secret made the announcement.
    package func isAuthentic(under root: MediaRoot) -> Bool {
        tag ^ root.announcementTag(of: Self.authenticated(content, rosterVersion, index, signature).span) == 0
    }

    /// Whether the member with this key made the announcement, for this channel.
    func isSigned(by key: IdentityKey, channelID: UInt128) -> Bool {
        key.hasSigned(Self.message(content, rosterVersion, index, channelID), signature)
    }

    private static func write(
        _ content: AnnouncedEpoch, _ version: UInt32, _ index: UInt16, into bytes: inout OutputSpan<UInt8>
    ) {
        content.write(into: &bytes)
        bytes.append(number: version)
        bytes.append(number: index)
    }

    private static func message(
        _ content: AnnouncedEpoch, _ version: UInt32, _ index: UInt16, _ channelID: UInt128
    ) -> SignedMessage {
        SignedMessage("tenfour 1 announcement", channelID: channelID) { write(content, version, index, into: &$0) }
    }

    /// The bytes that the tag covers.
    private static func authenticated(
        _ content: AnnouncedEpoch, _ version: UInt32, _ index: UInt16, _ signature: Signature
    ) -> [UInt8] {
        [UInt8](capacity: authenticatedByteCount) { bytes in
            write(content, version, index, into: &bytes)
            bytes.append(zeros: 2)
            signature.write(into: &bytes)
        }
    }
}
