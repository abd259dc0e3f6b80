public import TenfourManagedChannel
public import TenfourPackets

/// The state of our membership in a managed channel that we have kept from the run before.
public struct ManagedState: Sendable {
    /// The content of our file, as `ManagedFileChange.write` had it; nil if there is none.
    public var file: LockedBytes?
    /// The newest roster that we have held; nil if it is not known. The owner's first one is in no relay yet.
    public var roster: SignedRoster?
    /// The keys that the user has compared with other members, by the members' names. Another key under such a name is not
    /// heard until the user has compared it, too.
    public var verifiedKeys: [MemberName: IdentityKey]

    public init(
        file: LockedBytes? = nil, roster: SignedRoster? = nil, verifiedKeys: [MemberName: IdentityKey] = [:]
    ) {
        self.file = file
        self.roster = roster
        self.verifiedKeys = verifiedKeys
    }
}

/// A change of our file in a managed channel. Records wait until it is on disk.
public enum ManagedFileChange: Sendable {
    /// The content of the file, which must be of mode 0600. The old content must be overwritten.
    case write(LockedBytes)
    /// The owner has removed us: the file must be erased.
    case erase
}

/// The member of a managed channel who talks under an SSRC, by the signature of its announcement.
public struct SignedTalker: Hashable, Sendable {
    public var index: UInt16
    /// The name that the owner has given to the member; nil if it has none.
    public var name: MemberName?
    /// Whether the user has compared the member's key.
    public var isVerified: Bool

    public init(index: UInt16, name: MemberName?, isVerified: Bool) {
        self.index = index
        self.name = name
        self.isVerified = isVerified
    }
}

/// An event in a managed channel.
public enum ManagedEvent: Hashable, Sendable {
    /// There is a roster, or a newer one: `Channel.signedRoster`.
    case rosterChanged(version: UInt32)
    /// The packets under this SSRC are now those of this member.
    case talkerKnown(SSRC, SignedTalker)
    /// The owner has signed two lists of one version: something is wrong with the owner, or with its key.
    case twoRosters
    /// There is a newer group secret, drawn by a member of this index.
    case secretChanged(signer: UInt16)
    /// Nobody has sealed the group secret for us yet, 30 s after we have joined. Nothing is played or sent.
    case waiting
    /// The owner has removed us; our secrets are erased.
    case removed
    /// A member talks whose key is not the one that the user has compared. It is not heard.
    case keyChanged(MemberName)
    /// The roster of this version, which we have signed as the owner, is in force.
    case rosterDeposited(version: UInt32)
    /// The group secret that we have drawn is sealed for `memberCount` members, and the relay has it.
    case secretDeposited(memberCount: Int)
}
