public import TenfourChannelKeys

/// A roster whose signature is the owner's. Every key in it is a valid identity.
public struct SignedRoster: Hashable, Sendable {
    public let contents: RosterContents
    public private(set) var signature: Signature
    public let channelID: UInt128
    public let admissionList: AdmissionList
    /// The SHA-256 of the canonical bytes.
    public let hash: Bytes32
    /// The members' keys, in the order of the entries.
    private let keys: [IdentityKey]

    /// Verifies a roster that has come with `signature`. `ownerHash` is the owner hash of the link's fingerprint.
    /// `known` is an older roster; its keys need not be checked again. `channelID` is that of the listen join key.
    ///
    /// Each key that is not known takes about as long as a signature, because the signature covers the X25519 keys.
    public init(
        verifying contents: RosterContents, _ signature: Signature, ownerHash: Bytes32, channelID: UInt128,
        known: SignedRoster? = nil
    ) throws(RosterError) {
        guard IdentityKey.ownerHash(of: contents.entries[0].key) == ownerHash else { throw .owner }
        let keys = try Self.keys(of: contents, known: known)
        self.init(contents, keys, signature, channelID, known: known)
        guard keys[0].hasSigned(RosterHead(self).message(channelID, hash, admissionList.hash), signature) else {
            throw .signature
        }
    }

    /// Signs a roster. Throws `.owner` unless the first entry has the key of `owner`.
    public init(
        signing contents: RosterContents, by owner: MemberIdentity, channelID: UInt128, known: SignedRoster? = nil
    ) throws(RosterError) {
        let keys = try Self.keys(of: contents, known: known)
        guard keys[0] == owner.key else { throw .owner }
        self.init(contents, keys, .zero, channelID, known: known)
        signature = owner.sign(RosterHead(self).message(channelID, hash, admissionList.hash))
    }

    private init(
        _ contents: RosterContents, _ keys: [IdentityKey], _ signature: Signature, _ channelID: UInt128,
        known: SignedRoster?
    ) {
        self.contents = contents
        self.keys = keys
        self.signature = signature
        self.channelID = channelID
        hash = contents.hash
        admissionList = AdmissionList(
            version: contents.version,
            entries: zip(contents.entries, keys).map { entry, key in
                let place = known?.channelID == channelID ? known?.contents.place(of: entry.index) : nil
                let old = place.flatMap { known?.keys[$0] == key ? known?.admissionList.entries[$0].keyHash : nil }
                return AdmissionList.Entry(
                    index: entry.index, role: entry.role, isDelegate: entry.isDelegate,
                    keyHash: old ?? AdmissionList.keyHash(of: key.agreementKey, channelID: channelID))
            })
    }

    private static func keys(
        of contents: RosterContents, known: SignedRoster?
    ) throws(RosterError) -> [IdentityKey] {
        var keys: [IdentityKey] = []
        keys.reserveCapacity(contents.entries.count)
        for entry in contents.entries {
            let old = known?.key(of: entry.index)
            guard let key = old?.bytes == entry.key ? old : IdentityKey(entry.key) else { throw .weakKey }
            keys.append(key)
        }
        return keys
    }

    public var version: UInt32 { contents.version }
    public var ownerKey: IdentityKey { keys[0] }

    /// Returns the key of a member; nil if the index is not in the roster.
    public func key(of index: UInt16) -> IdentityKey? { contents.place(of: index).map { keys[$0] } }

    /// Whether the member may draw group secrets: the owner, or a delegate.
    public func isSigner(_ index: UInt16) -> Bool {
        contents.entry(index).map { $0.index == RosterEntry.ownerIndex || $0.isDelegate } ?? false
    }

    /// Throws unless this roster may take the place of `held`.
    func checkSuccession(of held: SignedRoster) throws(RosterError) {
        guard version >= held.version else { throw .older }
        guard version > held.version else { throw hash == held.hash ? .older : .twoListsOfOneVersion }
        for entry in contents.entries {
            if let old = held.contents.entry(entry.index), old.key != entry.key { throw .reused }
        }
    }
}

/// The marks of a roster that a member remembers from one run to the next, so that it accepts no older one.
struct RosterMark: Hashable, Sendable {
    var version: UInt32
    var hash: Bytes32

    /// Stands for no roster.
    static let none = RosterMark(version: 0, hash: Bytes32([UInt8](repeating: 0, count: 32).span))

    /// Throws unless `roster` is the one that is remembered, or a newer one.
    func check(_ roster: SignedRoster) throws(RosterError) {
        guard roster.version >= version else { throw .older }
        guard roster.version > version || roster.hash == hash else { throw .twoListsOfOneVersion }
    }
}

/// The version, time and signature of a roster, which a member learns before the roster.
public struct RosterHead: Hashable, Sendable {
    public var version: UInt32
    public var time: UInt32
    public var signature: Signature

    static let byteCount = 72

    public init(_ roster: SignedRoster) {
        version = roster.contents.version
        time = roster.contents.time
        signature = roster.signature
    }

    init(parsing bytes: Span<UInt8>, at offset: Int) {
        version = bytes.number(at: offset)
        time = bytes.number(at: offset + 4)
        signature = Signature(parsing: bytes, at: offset + 8)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: version)
        bytes.append(number: time)
        signature.write(into: &bytes)
    }

    /// The bytes that the owner signs.
    func message(_ channelID: UInt128, _ rosterHash: Bytes32, _ admissionHash: Bytes32) -> SignedMessage {
        SignedMessage("tenfour 1 roster", channelID: channelID) {
            $0.append(number: version)
            $0.append(number: time)
            rosterHash.write(into: &$0)
            admissionHash.write(into: &$0)
        }
    }
}

extension Signature {
    static let zero = Signature(parsing: [UInt8](repeating: 0, count: byteCount).span, at: 0)
}
