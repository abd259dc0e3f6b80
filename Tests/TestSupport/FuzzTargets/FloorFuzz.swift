import TenfourAudioCore
import TenfourFloor
import TenfourPackets
import TenfourSession

/// Feeds the bytes as a message, as one between relays and as RTCP, and steps of 26 bytes to an arbiter, to one that
/// leads a cluster, and to a participant: a pause, a member and a message.
func feedFloor(_ bytes: Span<UInt8>) {
    check(bytes)
    var single = ChannelFloor(.init(isRequired: true, longestTalk: .seconds(1)))
    var leading = ChannelFloor(.init(), relay: 1, channel: 9)
    var participant = FloorParticipant(ssrc: SSRC(1))
    var now = Instant.start
    for member: UInt32 in 1...4 {
        single.join(member, mayTalk: member < 4, at: now)
        leading.join(member, mayTalk: member < 4, at: now)
    }
    leading.update(hasMembers: true, others: [2], at: now)
    leading.timeElapsed(at: now + .seconds(1))
    participant.begin(at: now)
    for start in stride(from: 0, to: bytes.count - 25, by: 26) {
        now = now + .milliseconds(Int(bytes[start]) * 4)
        let member = UInt32(bytes[start + 1] % 5)
        single.timeElapsed(at: now)
        leading.timeElapsed(at: now)
        participant.timeElapsed(at: now)
        let ssrc = SSRC(member)
        if bytes[start + 1] & 0x80 != 0 { _ = single.heardMedia(of: ssrc, from: member, at: now) }
        if bytes[start + 1] & 0x40 != 0 { leading.heardMedia(of: ssrc, fromRelay: 2, at: now) }
        if bytes[start + 1] & 0x20 != 0 { participant.press(waits: true, at: now) }
        if bytes[start + 1] & 0x10 != 0 { participant.release(at: now) }
        if let message = try? FloorMessage(parsing: bytes.extracting((start + 2)..<(start + 26))) {
            single.receive(message, from: member, ownsSSRC: member != 3, at: now)
            let term = leading.arbiter.revision.term
            let passed = FloorRelayMessage(term: term, channel: 9, .fromMember(member + 1, message))
            if message.isFromParticipant { leading.receive(passed, from: 2, at: now) }
            participant.receive(message, at: now)
        }
        if start % 78 == 0, bytes[start] & 1 == 1 {
            let claim = FloorRelayMessage(term: UInt32(bytes[start + 3]) + 1, channel: 9, .claim)
            leading.receive(claim, from: 2, at: now)
        }
        drain(&single, &leading, &participant)
    }
}

/// Takes all output, and checks that memory is bounded and time goes on.
private func drain(_ single: inout ChannelFloor, _ leading: inout ChannelFloor, _ participant: inout FloorParticipant) {
    var count = 0
    while single.nextOutput() != nil { count += 1 }
    while leading.nextOutput() != nil { count += 1 }
    while participant.nextMessage() != nil { count += 1 }
    while participant.nextEvent() != nil { count += 1 }
    precondition(count < 200, "one input has \(count) outputs")
    precondition(single.arbiter.queueCount <= 16 && leading.arbiter.queueCount <= 16)
}

private func check(_ bytes: Span<UInt8>) {
    if let message = try? FloorMessage(parsing: bytes) {
        let written = [UInt8](capacity: FloorMessage.byteCount) { message.write(into: &$0) }
        precondition((try? FloorMessage(parsing: written.span)) == message)
        for index in written.indices { precondition(written[index] == bytes[index]) }
    }
    if let message = try? FloorRelayMessage(parsing: bytes) {
        let written = [UInt8](capacity: FloorRelayMessage.maximumByteCount) { message.write(into: &$0) }
        precondition(written.count == bytes.count)
        for index in written.indices { precondition(written[index] == bytes[index]) }
    }
    guard var compound = try? RTCPCompound(parsing: bytes, allowsReducedSize: true) else { return }
    for _ in 0...(bytes.count / 4) {
        guard case .unknown(let unknown) = try? compound.next(), let packet = ApplicationPacket(unknown, in: bytes)
        else { continue }
        if packet.name == FloorMessage.packetName, let message = try? FloorMessage(parsing: packet.data.span) {
            let data = [UInt8](capacity: FloorMessage.byteCount) { message.write(into: &$0) }
            precondition(data == packet.data)
        }
        let written = [UInt8](capacity: packet.byteCount) { packet.write(into: &$0) }
        precondition(written.count == packet.byteCount)
    }
}
