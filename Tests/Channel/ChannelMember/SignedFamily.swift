import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourManagedChannel
import TenfourSeededRandom
import TestSupport

/// A managed channel with the same keys in every run: its owner, and the members Ben (1) and Cleo (2).
enum SignedFamily {
    static let identities: [MemberIdentity] = {
        var randomness = SeededRandom(seed: 72)
        return (0..<4).map { _ in MemberIdentity(using: &randomness) }
    }()
    static var owner: MemberIdentity { identities[0] }
    static let names = ["Anna", "Ben", "Cleo", "Dora"]
    static func name(_ number: Int) -> MemberName {
        guard let name = MemberName(names[number]) else { preconditionFailure("no name") }
        return name
    }
    static let fingerprint = RelayFingerprint(
        relay: Family.relayKey.publicKey, owner: OwnerHash(owner.key.ownerHash))
    static var channelID: UInt128 { Family.talk.listenJoin.channelID }

    /// Signs the list with the members of these numbers; `keys` replaces the identity of a member.
    static func roster(
        _ version: UInt32, _ members: [Int] = [0, 1, 2], roles: [Int: Role] = [:], keys: [Int: MemberIdentity] = [:]
    ) throws -> SignedRoster {
        let entries = members.map { number in
            RosterEntry(
                index: UInt16(number), role: roles[number] ?? .talk, added: 1_700_000_000,
                key: (keys[number] ?? identities[number]).key, name: name(number))
        }
        let contents = try RosterContents(version: version, time: 1_700_000_000, hasTagLists: false, entries: entries)
        return try SignedRoster(signing: contents, by: owner, channelID: channelID)
    }

    static func relay() -> ManagedRelay { ManagedRelay(Family.talk, key: Family.relayKey, owner: owner.key) }

    /// The small relay of the tests, or the production relay.
    static func relay(_ kind: RelayKind) -> any RelayEnd {
        switch kind {
        case .tiny: relay()
        case .real: RealRelay(key: Family.relayKey, owner: owner.key)
        }
    }

    static func configuration(
        _ number: Int, role: Role = .talk, as identity: MemberIdentity? = nil
    ) -> ChannelConfiguration {
        var configuration = Family.configuration(role, fingerprint: fingerprint)
        configuration.identity = identity ?? identities[number]
        return configuration
    }

    /// Member `number`, with the SSRC `number` + 1.
    static func member(
        _ number: Int, roster: SignedRoster? = nil, file: LockedBytes? = nil, speech: Speech? = nil,
        verified: [MemberName: IdentityKey] = [:], as identity: MemberIdentity? = nil, at now: Instant = .start
    ) -> Member {
        let member = Member(
            number, configuration(number, as: identity), ssrc: UInt32(number + 1), speech: speech, at: now)
        member.state = ManagedState(file: file, roster: roster, verifiedKeys: verified)
        return member
    }
}
