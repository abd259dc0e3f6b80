import TenfourAudioCore
import TenfourPackets
import TenfourSession

/// Feeds the bytes to a session as datagrams, each behind a byte that says who sends it and one with its length in words
/// of four bytes. What the session understands as an APP packet is sent back, and must be understood alike.
func feedApplicationPackets(_ bytes: Span<UInt8>) {
    var trial = ApplicationTrial()
    var start = 0
    while start + 2 <= bytes.count {
        let end = min(start + 2 + 4 * Int(bytes[start + 1]), bytes.count)
        trial.receive(bytes.extracting(start + 2..<end), from: bytes[start] & 3)
        if bytes[start] & 4 != 0 { trial.checkWaiting() }
        start = end
    }
    trial.checkWaiting()
}

private struct ApplicationTrial: ~Copyable {
    private var session = Self.session(1)
    private var now = Instant.start

    private static func session(_ ssrc: UInt32) -> RTPSession {
        RTPSession(
            identity: Identity(ssrc: SSRC(ssrc), firstSequenceNumber: SequenceNumber(rawValue: 0), seed: 1),
            configuration: RTPSessionConfiguration(remotes: [endpoint(0)], name: "fuzz"), at: .start)
    }

    private static func endpoint(_ number: UInt8) -> Endpoint {
        Endpoint(.v4(0x0A00_0001 + UInt32(number)), port: 5004)
    }

    mutating func receive(_ datagram: Span<UInt8>, from sender: UInt8) {
        now = now + .milliseconds(7)
        _ = session.receive(datagram, from: Self.endpoint(sender), at: now)
        drop(&session)
    }

    /// Takes the packets that wait.
    mutating func checkWaiting() {
        var count = 0
        while let packet = session.nextApplicationPacket() {
            count += 1
            precondition(packet.data.count <= ApplicationPacket.maximumByteCount && packet.data.count % 4 == 0)
            precondition(packet.ssrc != session.ssrc, "we are no remote of ours")
            checkSentBack(packet)
        }
        precondition(count <= 32, "\(count) packets wait")
    }

    private func checkSentBack(_ packet: ApplicationPacket) {
        var sender = Self.session(packet.ssrc.rawValue)
        sender.sendApplicationPacket(name: packet.name, packet.data)
        var receiver = Self.session(packet.ssrc.rawValue &+ 1)
        while let datagram = next(&sender) {
            _ = receiver.receive(datagram.span, from: Self.endpoint(0), at: now)
        }
        precondition(receiver.nextApplicationPacket() == packet)
    }
}

private func next(_ session: inout RTPSession) -> [UInt8]? {
    var destination: RTPSession.Destination?
    let datagram = [UInt8](capacity: RTPSession.maximumDatagramByteCount) {
        destination = session.nextDatagram(into: &$0)
    }
    return destination == nil ? nil : datagram
}

private func drop(_ session: inout RTPSession) {
    while next(&session) != nil {}
    while session.nextEvent() != nil {}
}
