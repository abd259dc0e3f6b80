internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourManagedChannel
internal import TenfourPacing
internal import TenfourSession

/// Channels with an owner: who may join, and the records of their members (Protocol/14-group-secrets.md).
extension Relay {
    /// The most records that are sent to members of one channel at a time, and the pause after them, so that a roster for
    /// thousands of members does not delay media.
    private static let burst = 64
    private static let pause: Duration = .milliseconds(2)

    /// Returns the index of the member with this X25519 key; nil if the channel's owner has not added it, or not in this role.
    func admitted(_ key: Bytes32, to channel: ChannelIndex, as role: Role) -> UInt16? {
        channels[channel]?.managed?.store.admitted(key).flatMap { $0.allows(role) ? $0.index : nil }
    }

    /// Whether the owner of the member's channel, if it has one, has not removed the member since WELCOME.
    func isAdmitted(_ member: MemberID) -> Bool {
        let session = sessions[member]
        guard let managed = channels[session.channel]?.managed else { return true }
        return managed.store.admits(sessions.rosterIndex(of: member), as: session.role)
    }

    /// Takes note of a member that has sent its first record.
    mutating func joinedManaged(_ member: MemberID, at now: Instant) {
        let channel = sessions[member].channel
        guard managed.contains(channel) else { return }
        channels[channel]?.managed?.joined(member, as: sessions.rosterIndex(of: member), at: now)
        managed.schedule(channel, at: now)
    }

    /// Takes note of a member whose session was removed.
    mutating func leftManaged(_ member: MemberID, _ channel: ChannelIndex) {
        guard managed.contains(channel) else { return }
        let index = sessions.rosterIndex(of: member)
        var other: MemberID?
        var next = sessions.first(in: channel)
        let isFollowed = channels[channel]?.managed?.isFollowed(member, as: index) ?? false
        while isFollowed, other == nil, let candidate = next {
            next = sessions.next(behind: candidate)
            if sessions[candidate].state == .joined, sessions.rosterIndex(of: candidate) == index { other = candidate }
        }
        channels[channel]?.managed?.left(member, as: index, other: other)
    }

    /// Handles a record of the types 15 to 22. `range` is its content in `opened`.
    mutating func managedRecordArrived(
        _ range: Range<Int>, of session: UInt64, _ member: MemberID, from sender: Endpoint, at now: Instant
    ) -> Reception {
        let channel = sessions[member].channel
        guard managed.contains(channel), let record = try? MemberRecord(parsing: opened.span.extracting(range)) else {
            return .discarded(.malformedRecord)
        }
        if case .rosterFetch(let fetch) = record {
            // The pages are many times as long as the request, so the member must prove that it receives there.
            let endpoint = sessions[member].endpoint
            guard sender == endpoint,
                joins.accepts(receipt: fetch.receipt, for: session, at: PeerAddress(endpoint), now)
            else { return .discarded(.staleReceipt) }
            guard sessions[member].records.spend(Self.recordPrice, count: Self.requestCost, at: now) else {
                return .discarded(.tooManyRecords)
            }
        }
        let before = channels[channel]?.managed?.store.refusals ?? [:]
        channels[channel]?.managed?.store.receive(record, from: sessions.rosterIndex(of: member), at: now)
        managed.schedule(channel, at: now)
        let refusals = channels[channel]?.managed?.store.refusals ?? [:]
        guard refusals != before else { return .handled }
        var reasons: [RelayDiscard] = []
        for refusal in ManagedChannelStore.Refusal.allCases {
            let count = (refusals[refusal] ?? 0) - (before[refusal] ?? 0)
            for _ in 0..<count { reasons.append(RelayDiscard(refusal)) }
        }
        // The caller counts one of them.
        for reason in reasons.dropLast() { count(reason) }
        return reasons.last.map { .discarded($0) } ?? .handled
    }

    /// Sends what is due to members of channels with an owner, and finds the states to be written.
    mutating func pollManagedChannels(at now: Instant) {
        for channel in managed.takeDue(at: now) {
            let isDone = sendManagedRecords(of: channel, at: now)
            guard let store = channels[channel]?.managed?.store else { continue }
            if let due = store.storeDue, due <= now { managed.save(channel) }
            if !isDone {
                managed.schedule(channel, at: now + Self.pause)
            } else if let next = store.nextDeadline, next > now {
                managed.schedule(channel, at: next)
            }
        }
    }

    /// Returns whether no more is due.
    private mutating func sendManagedRecords(of channel: ChannelIndex, at now: Instant) -> Bool {
        for _ in 0..<Self.burst {
            switch channels[channel]?.managed?.store.nextMessage(at: now) {
            case .record(let record, let index):
                guard let member = channels[channel]?.managed?.session(of: index) else { continue }
                outbox.put(managed: record.bytes.span, for: member, of: &sessions)
            case .goodbye(let index):
                while let member = channels[channel]?.managed?.session(of: index) {
                    outbox.put(.goodbye(.notAdmitted), for: member, of: &sessions)
                    end(member, at: now)
                }
            case nil: return true
            }
        }
        return false
    }

    /// The bytes of memory that the relay uses for the roster, the secrets and the members of a channel with an owner, without
    /// their sessions.
    package func managedByteCount(of channel: ChannelIndex) -> Int {
        channels[channel]?.managed?.store.memoryByteCount ?? 0
    }
}

extension RelayDiscard {
    fileprivate init(_ refusal: ManagedChannelStore.Refusal) {
        self =
            switch refusal {
            case .notASigner: .notASigner
            case .depositForStranger: .depositForStranger
            case .olderDeposit: .olderDeposit
            case .falseRoster: .falseRoster
            case .tooManyFetches: .tooManyRecords
            }
    }
}
