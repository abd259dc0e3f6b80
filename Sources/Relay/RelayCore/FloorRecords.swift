internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourFloor
internal import TenfourPackets

/// Who may talk in a channel: messages about the floor, and media without it (Protocol/10-floor.md).
extension Relay {
    /// Handles a message of a member.
    mutating func floorArrived(_ message: FloorMessage, from member: MemberID, at now: Instant) -> Reception {
        guard message.isFromParticipant else { return .discarded(.malformedRecord) }
        let channel = sessions[member].channel
        guard channels[channel]?.hasFloorControl(for: member.floorNumber) ?? false else { return .handled }
        let mayTalk = sessions[member].role == .talk
        if channels[channel]?.floor == nil, clusterRequests.boot == nil, case .queuePositionRequest(0, _) = message {
            // Every station asks once whether the channel requires the floor. Most channels never use it.
            channels[channel]?.floorAskers[member.floorNumber] = mayTalk
            let idle = FloorMessage.idle(answering: 0, FloorRevision(term: 1, state: 0), [])
            channels[channel]?.floorRecords.answer(member.floorNumber, idle, at: now)
            sendFloorMessages(of: channel, at: now)
            return .handled
        }
        let ownership = message.ssrc.map { self.ownership(of: $0, by: member, at: now) } ?? .owns
        // The station repeats its request.
        if ownership == .open, case .request = message { return .handled }
        channels[channel]?.floorMessageArrived(
            message, from: member, mayTalk: mayTalk, ownsSSRC: ownership != .others, at: now)
        sendFloorMessages(of: channel, at: now)
        return .handled
    }

    private enum Ownership {
        case owns
        case others
        /// A talker of another relay has the SSRC, and is heard there. It may be this member, which has changed over.
        case open
    }

    /// A talker of another relay that has been silent for this time may be a member that has changed over. It announces
    /// its SSRC here only when it has the floor.
    private static let changeoverSilence = Duration.milliseconds(500)

    private func ownership(of ssrc: SSRC, by member: MemberID, at now: Instant) -> Ownership {
        let channel = sessions[member].channel
        if ssrcs[ssrc]?.contains(where: { $0 != member && sessions[$0].channel == channel }) ?? false {
            return .others
        }
        guard let remote = remotes[ssrc, in: channel], remote.heldUntil == nil else { return .owns }
        if sessions[member].talker.flatMap({ talkers[$0]?.claim }) != nil { return .others }
        let isHeard = remote.stream.map { now - $0.lastPacket < Self.changeoverSilence } ?? false
        return isHeard ? .open : .owns
    }

    mutating func leaveFloor(_ member: MemberID, of channel: ChannelIndex, at now: Instant) {
        channels[channel]?.floorAskers[member.floorNumber] = nil
        channels[channel]?.floorRecords.remove(member.floorNumber)
        guard channels[channel]?.floor != nil else { return }
        channels[channel]?.floor?.leave(member.floorNumber, at: now)
        channels[channel]?.closeUnusedFloor()
        sendFloorMessages(of: channel, at: now)
    }

    /// Returns the reason to drop a talker's packet in a channel whose floor is in use; nil if it may be forwarded. The floor is
    /// asked only about a packet of the SSRC that the talker has announced, with room for audio. A station that knows no floor
    /// control gets limits of zero when it may not talk.
    mutating func floorRefusal(
        _ datagram: Span<UInt8>, _ index: TalkerIndex, _ member: MemberID, _ ssrc: SSRC, at now: Instant
    ) -> RelayDiscard? {
        let channel = sessions.channel(of: member)
        guard channels.usesFloor(in: channel) else { return nil }
        guard talkers.hasClaimed(ssrc, index) else { return .unannounced }
        guard isSRTP(datagram) else { return .malformedMedia }
        let mayTalk = channels.heardMedia(of: ssrc, from: member, in: channel, at: now)
        if channels.hasFloorOutput(in: channel) { sendFloorMessages(of: channel, at: now) }
        if !mayTalk, channels[channel]?.floor?.isParticipant(member.floorNumber) == false {
            sendLimits(0, 0, to: index, at: now)
        }
        return mayTalk ? nil : .withoutFloor
    }

    /// Whether a datagram has the length of an SRTP packet with a payload, after all that its header announces. The rest is
    /// encrypted.
    private func isSRTP(_ datagram: Span<UInt8>) -> Bool {
        var headerByteCount = RTPHeader.byteCount + 4 * Int(datagram[0] & 0x0F)
        if datagram[0] & 0x10 != 0 {
            guard datagram.count >= headerByteCount + 4 else { return false }
            headerByteCount += 4 + 4 * Int(datagram.uint16(at: headerByteCount + 2))
        }
        return datagram.count > headerByteCount + Self.shortestTagByteCount
    }

    /// The length of the shortest authentication tag, that of AES_CM_128_HMAC_SHA1_80.
    private static let shortestTagByteCount = 10

    mutating func pollFloors(at now: Instant) {
        for channel in floors.takeDue(at: now) {
            if let deadline = channels[channel]?.floorDeadline, deadline <= now {
                channels[channel]?.floor?.timeElapsed(at: now)
                putFloorMessages(of: channel, at: now)
            }
            if let deadline = channels[channel]?.floorDeadline {
                floors.expectAgain(channel, at: deadline, after: now)
            }
        }
    }

    /// Sends members what the channel's budget allows, and other relays all that they are to be sent.
    mutating func sendFloorMessages(of channel: ChannelIndex, at now: Instant) {
        putFloorMessages(of: channel, at: now)
        if let deadline = channels[channel]?.floorDeadline { floors.expect(channel, at: deadline) }
    }

    private mutating func putFloorMessages(of channel: ChannelIndex, at now: Instant) {
        while let output = channels[channel]?.floor?.nextOutput() {
            switch output {
            case .toMember(let number, let message):
                channels[channel]?.floorRecords.answer(number, message, at: now)
            case .toAllMembers(let message): channels[channel]?.floorRecords.setState(message)
            case .toRelay(let relay, let message):
                clusterRequests.append(.floor(BootID(rawValue: relay), channel, message))
            case .toAllRelays(let message):
                if case .toAll = message.content {
                    channels[channel]?.floorRecords.setRelayState(message)
                } else {
                    clusterRequests.append(.floor(nil, channel, message))
                }
            }
        }
        if let message = channels[channel]?.floorRecords.nextRelayState(at: now) {
            clusterRequests.append(.floor(nil, channel, message))
        }
        while let (number, message) = channels[channel]?.nextFloorRecord(at: now) {
            outbox.put(.floor(message), for: MemberID(floorNumber: number), of: &sessions)
        }
    }
}

extension RelayedChannel {
    mutating func floorMessageArrived(
        _ message: FloorMessage, from member: MemberID, mayTalk: Bool, ownsSSRC: Bool, at now: Instant
    ) {
        openFloor(at: now)
        floor?.join(member.floorNumber, mayTalk: mayTalk, at: now)
        floor?.receive(message, from: member.floorNumber, ownsSSRC: ownsSSRC, at: now)
    }

    mutating func heardMedia(of ssrc: SSRC, from member: MemberID, at now: Instant) -> Bool {
        floor?.join(member.floorNumber, mayTalk: true, at: now)
        return floor?.heardMedia(of: ssrc, from: member.floorNumber, at: now) ?? true
    }

    func makeFloor() -> ChannelFloor {
        let terms = configuration.floor ?? FloorArbiter.Configuration()
        return ChannelFloor(terms, relay: floorCluster?.boot, channel: floorCluster?.tag ?? 0)
    }

    /// Whether the relay arbitrates the floor of the channel. After a reload it may still do so for members that know it as the
    /// arbiter.
    var hasFloorControl: Bool { configuration.floor != nil || floor != nil }

    func hasFloorControl(for member: UInt32) -> Bool {
        configuration.floor != nil || floor?.isParticipant(member) ?? false || floorAskers[member] != nil
    }

    /// Follows a new configuration. If the channel has no floor control any more, its floor remains for those who use it.
    mutating func floorChanged() {
        let terms = configuration.floor ?? FloorArbiter.Configuration()
        if floor == nil, terms.isRequired { floor = makeFloor() }
        floor?.change(to: terms)
        closeUnusedFloor()
    }

    /// Forgets the floor of a channel without floor control if nobody uses it any more.
    mutating func closeUnusedFloor() {
        if configuration.floor == nil, floor?.audience.isEmpty ?? false { closeFloor() }
    }

    /// The time of the next timer of the floor, and of the next message that waits for the channel's budget.
    var floorDeadline: Instant? {
        guard let waiting = floorRecords.nextDeadline else { return floor?.nextDeadline }
        return floor?.nextDeadline.map { min($0, waiting) } ?? waiting
    }

    mutating func nextFloorRecord(at now: Instant) -> (UInt32, FloorMessage)? { floorRecords.next(in: floor, at: now) }

    /// Makes the floor if there is none.
    mutating func openFloor(at now: Instant) {
        guard floor == nil else { return }
        floor = makeFloor()
        joinAskers(at: now)
        updateFloor(at: now)
    }

    /// Forgets the floor. If the channel requires it, it begins anew.
    mutating func closeFloor() {
        floorRecords.removeAll()
        floor = configuration.floor?.isRequired ?? false ? makeFloor() : nil
    }

    /// Tells the floor which relays of the cluster have members.
    mutating func updateFloor(at now: Instant) {
        guard let floorCluster else { return }
        floor?.update(hasMembers: status.memberCount > 0, others: floorCluster.others, at: now)
    }

    /// Adds the members that have asked who has the floor, so that they hear of it.
    mutating func joinAskers(at now: Instant) {
        guard floor != nil, !floorAskers.isEmpty else { return }
        floor?.join(askers: floorAskers, at: now)
        floorAskers = [:]
    }
}

extension MemberID {
    /// The number of the member in its channel's floor, which counts from 1.
    var floorNumber: UInt32 { UInt32(rawValue) + 1 }

    init(floorNumber: UInt32) { self.init(Int(floorNumber) - 1) }
}
