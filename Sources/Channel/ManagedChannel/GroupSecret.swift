public import TenfourChannelKeys

/// The number of a group secret. Secrets are ordered by it: members keep the highest (Protocol/14-group-secrets.md).
public struct GroupSecretID: Hashable, Comparable, Sendable {
    /// The version of the roster that was in force when the secret was drawn.
    public var rosterVersion: UInt32
    /// Increases by one with each secret of a signer for a roster version.
    public var generation: UInt32
    /// The member that drew the secret: the owner, or a delegate.
    public var signer: UInt16

    static let byteCount = 10
    /// Stands for no secret, and is lower than the number of each secret.
    public static let none = GroupSecretID(rosterVersion: 0, generation: 0, signer: 0)

    public init(rosterVersion: UInt32, generation: UInt32, signer: UInt16) {
        self.rosterVersion = rosterVersion
        self.generation = generation
        self.signer = signer
    }

    init(parsing bytes: Span<UInt8>, at offset: Int) {
        rosterVersion = bytes.number(at: offset)
        generation = bytes.number(at: offset + 4)
        signer = bytes.number(at: offset + 8)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: rosterVersion)
        bytes.append(number: generation)
        bytes.append(number: signer)
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.rosterVersion, left.generation, left.signer) < (right.rosterVersion, right.generation, right.signer)
    }
}

/// A secret that the members of a managed channel share for about an hour: 32 bytes in locked memory. Media keys follow
/// from it and the link's secret, so both are needed.
public struct GroupSecret: Sendable, Equatable {
    public let id: GroupSecretID
    let bytes: LockedBytes

    public static let byteCount = 32

    init(_ id: GroupSecretID, _ bytes: LockedBytes) {
        precondition(bytes.count == Self.byteCount)
        self.id = id
        self.bytes = bytes
    }

    /// Returns the group media root, which takes the place of `root` for media and announcements.
    public func mediaRoot(from root: MediaRoot, channelID: UInt128) -> MediaRoot {
        let salt = label("tenfour 1 group") {
            $0.append(number: channelID)
            id.write(into: &$0)
        }
        return bytes.withBytes { root.groupRoot(salt: salt, secret: $0) }
    }
}
