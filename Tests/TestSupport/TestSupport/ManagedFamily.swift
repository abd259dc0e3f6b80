package import TenfourChannelKeys
package import TenfourManagedChannel
package import TenfourRelayCore
import TenfourSeededRandom
package import TenfourSession

/// A channel with an owner: its keys, the relay's key, the identities of its members, and the rosters that the owner signs.
package struct ManagedFamily: Sendable {
    package let keys: ChannelKeys
    package let relayKey: RelayKey
    package let owner: MemberIdentity
    /// The members from index 1 on.
    private let identities: [MemberIdentity]

    package init(memberCount: Int, seed: UInt64 = 5) {
        var randomness = SeededRandom(seed: seed)
        keys = ChannelKeys.drawn("family", seed: seed)
        relayKey = RelayKey(using: &randomness)
        owner = MemberIdentity(using: &randomness)
        identities = (0..<memberCount).map { _ in MemberIdentity(using: &randomness) }
    }

    package var channelID: UInt128 { keys.listenJoin.channelID }

    /// The owner's identity for 0.
    package func identity(_ index: UInt16) -> MemberIdentity { index == 0 ? owner : identities[Int(index) - 1] }

    package var expected: ExpectedRelay {
        ExpectedRelay(
            RelayFingerprint(relay: relayKey.publicKey, owner: OwnerHash(owner.key.ownerHash)), of: keys)
    }

    package var configuration: RelayConfiguration {
        var configuration = RelayConfiguration([keys])
        configuration.channels[0].owner = owner.key
        configuration.key = relayKey
        return configuration
    }

    /// A roster of all members but those in `without`. All may talk but those in `listeners`.
    package func roster(
        _ version: UInt32, without removed: Set<UInt16> = [], listeners: Set<UInt16> = [],
        by signer: MemberIdentity? = nil,
        after old: SignedRoster? = nil
    ) -> SignedRoster {
        let signer = signer ?? owner
        let entries = (0...UInt16(identities.count)).filter { !removed.contains($0) }.map { index in
            RosterEntry(
                index: index, role: listeners.contains(index) ? .listen : .talk, added: 0,
                key: index == 0 ? signer.key : identity(index).key, name: MemberName("Member \(index)"))
        }
        guard
            let contents = try? RosterContents(version: version, time: 0, hasTagLists: false, entries: entries),
            let roster = try? SignedRoster(signing: contents, by: signer, channelID: channelID, known: old)
        else { preconditionFailure("no roster") }
        return roster
    }

    /// The records with which the owner deposits a roster.
    package func deposit(of roster: SignedRoster, after old: SignedRoster? = nil) -> [MemberRecord] {
        RosterDeposit.parts(of: roster, after: old, hasSecret: false, mediaRoot: keys.mediaRoot)
            .map { .rosterDeposit($0) }
    }

    /// A member that joins with an identity of this channel, or of a stranger.
    package func member(
        _ index: UInt16, _ role: Role = .talk, as identity: MemberIdentity? = nil, host: Int? = nil
    ) -> SimulatedMember {
        let member = SimulatedMember(keys, role, at: .host(host ?? Int(index) + 1))
        member.expected = expected
        member.identity = (identity ?? self.identity(index)).agreementPair
        return member
    }
}

extension SimulatedMember {
    @discardableResult
    package func say(_ record: MemberRecord, _ room: RelayHarness, from sender: Endpoint? = nil) -> Relay.Reception {
        say(managed: record.bytes, room, from: sender)
    }

    @discardableResult
    package func say(managed content: [UInt8], _ room: RelayHarness, from sender: Endpoint? = nil) -> Relay.Reception {
        let datagram = [UInt8](capacity: content.count + 36) { sealer!.seal(managed: content.span, into: &$0) }
        return room.receive(datagram, from: sender ?? endpoint)
    }

    /// Takes all datagrams for this member, and returns the records of a channel with an owner, the reasons of GOODBYE, and
    /// the number of bytes of the former.
    package func managedRecords(
        _ room: RelayHarness
    ) -> (records: [RelayRecord], goodbyes: [Refusal.Reason], byteCount: Int) {
        var result: (records: [RelayRecord], goodbyes: [Refusal.Reason], byteCount: Int) = ([], [], 0)
        for datagram in room.take(endpoint) {
            var bytes = datagram
            var span = bytes.mutableSpan
            switch try? opener?.open(&span) {
            case .managed(let range):
                let content = Array(bytes[range])
                if let record = try? RelayRecord(parsing: content.span) { result.records.append(record) }
                result.byteCount += datagram.count
            case .goodbye(let reason): result.goodbyes.append(reason)
            case .renewed(_, let receipt, _): self.receipt = receipt
            default: break
            }
        }
        return result
    }
}
