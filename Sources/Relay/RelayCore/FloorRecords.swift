internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourFloor
internal import TenfourPackets

/// Who may talk in a channel: messages about the floor, and media without it (Protocol/10-floor.md).
extension Relay {
    /// Handles a message of a member. A relay of a cluster ignores it: there one relay would have to arbitrate for all.
    mutating func floorArrived(_ message: FloorMessage, from member: MemberID, at now: Instant) -> Reception {
        guard message.isFromParticipant else { return .discarded(.malformedRecord) }
        guard clusterRequests.boot == nil else { return .handled }
        let channel = sessions[member].channel
        let isOthers =
            message.ssrc.flatMap { ssrcs[$0] }?.contains { $0 != member && sessions[$0].channel == channel } ?? false
        channels[channel]?.floorMessageArrived(
            message, from: member, mayTalk: sessions[member].role == .talk, ownsSSRC: !isOthers, at: now)
        sendFloorMessages(of: channel)
        return .handled
    }

    mutating func leaveFloor(_ member: MemberID, of channel: ChannelIndex, at now: Instant) {
        guard channels[channel]?.floor != nil else { return }
        channels[channel]?.floor?.leave(member.floorNumber, at: now)
        sendFloorMessages(of: channel)
    }

    /// Whether a talker's packet may be forwarded. A station that knows no floor control is told when it may not.
    mutating func mayTalk(_ index: TalkerIndex, _ member: MemberID, _ ssrc: SSRC, at now: Instant) -> Bool {
        guard clusterRequests.boot == nil else { return true }
        let channel = sessions.channel(of: member)
        let mayTalk = channels.heardMedia(of: ssrc, from: member, in: channel, at: now)
        if channels.hasFloorOutput(in: channel) { sendFloorMessages(of: channel) }
        if !mayTalk, channels[channel]?.floor?.isParticipant(member.floorNumber) == false {
            sendLimits(0, 0, to: index, at: now)
        }
        return mayTalk
    }

    mutating func pollFloors(at now: Instant) {
        guard let due = floors.next, due <= now else { return }
        for channel in floors.channels {
            guard let deadline = channels[channel]?.floor?.nextDeadline, deadline <= now else { continue }
            channels[channel]?.floor?.timeElapsed(at: now)
            sendFloorMessages(of: channel)
        }
        var next: Instant?
        for channel in floors.channels {
            if let deadline = channels[channel]?.floor?.nextDeadline {
                next = next.map { min($0, deadline) } ?? deadline
            } else {
                floors.channels.remove(channel)
            }
        }
        // The floors of many channels are polled together, at most a hundred times a second.
        floors.next = next.map { max($0, now + .milliseconds(10)) }
    }

    private mutating func sendFloorMessages(of channel: ChannelIndex) {
        while let output = channels[channel]?.floor?.nextOutput() {
            switch output {
            case .toMember(let number, let message):
                outbox.put(.floor(message), for: MemberID(floorNumber: number), of: &sessions)
            case .toAllMembers(let message):
                for number in channels[channel]?.floorAudience ?? [] {
                    outbox.put(.floor(message), for: MemberID(floorNumber: number), of: &sessions)
                }
            case .toRelay, .toAllRelays: break
            }
        }
        guard let deadline = channels[channel]?.floor?.nextDeadline else { return }
        floors.channels.insert(channel)
        floors.next = floors.next.map { min($0, deadline) } ?? deadline
    }
}

/// The channels whose floor has a timer, and the earliest one. It is stored, because it is read for each packet.
struct FloorDeadlines: Sendable {
    var channels: Set<ChannelIndex> = []
    var next: Instant?
}

extension RelayedChannel {
    mutating func floorMessageArrived(
        _ message: FloorMessage, from member: MemberID, mayTalk: Bool, ownsSSRC: Bool, at now: Instant
    ) {
        if floor == nil { floor = ChannelFloor(configuration.floor) }
        floor?.join(member.floorNumber, mayTalk: mayTalk, at: now)
        floor?.receive(message, from: member.floorNumber, ownsSSRC: ownsSSRC, at: now)
    }

    mutating func heardMedia(of ssrc: SSRC, from member: MemberID, at now: Instant) -> Bool {
        guard floor != nil else { return true }
        floor?.join(member.floorNumber, mayTalk: true, at: now)
        return floor?.heardMedia(of: ssrc, from: member.floorNumber, at: now) ?? true
    }

    var floorAudience: [UInt32] { floor.map { Array($0.audience) } ?? [] }
}

extension MemberID {
    /// The number of the member in its channel's floor, which counts from 1.
    var floorNumber: UInt32 { UInt32(rawValue) + 1 }

    init(floorNumber: UInt32) { self.init(Int(floorNumber) - 1) }
}
