import TenfourAudioCore
import TenfourPackets
import TenfourSession

// Two sessions on a network that exists only in this program: each direction
// takes 10 ms, and every tenth packet of audio is lost. No socket is opened, and
// time passes as fast as the loop runs.
let alice = Endpoint(.v4(0x0A00_0001), port: 5004)
let bob = Endpoint(.v4(0x0A00_0002), port: 5004)
var now = Instant.start

var talker = RTPSession(
    identity: Identity(ssrc: SSRC(0xA), seed: 1, canonicalName: "a"),
    configuration: RTPSessionConfiguration(remotes: [bob], name: "Alice"),
    at: now)
var listener = RTPSession(
    identity: Identity(ssrc: SSRC(0xB), seed: 2, canonicalName: "b"),
    configuration: RTPSessionConfiguration(remotes: [alice], name: "Bob"),
    at: now)

/// Takes the datagrams that a session wants to send.
func outgoing(of session: inout RTPSession) -> [[UInt8]] {
    let capacity = RTPSession.maximumDatagramByteCount
    var datagrams: [[UInt8]] = []
    while true {
        var destination: RTPSession.Destination?
        let datagram = [UInt8](capacity: capacity) { buffer in
            destination = session.nextDatagram(into: &buffer)
        }
        if destination == nil { return datagrams }
        datagrams.append(datagram)
    }
}

// Stands for an Opus packet of 20 ms.
let payload: [UInt8] = [0x78] + [UInt8](repeating: 0, count: 79)

for index in 0..<500 {
    let position = FrameCount(960 * index)
    let isFirst = index == 0
    talker.send(payload.span, at: position, startsTalkspurt: isFirst, now: now)
    talker.timeElapsed(at: now)
    var datagrams = outgoing(of: &talker)
    if index % 10 == 9 { datagrams.removeFirst() }

    now = now + .milliseconds(10)
    for datagram in datagrams {
        _ = listener.receive(datagram.span, from: alice, at: now)
    }
    listener.timeElapsed(at: now)
    let answers = outgoing(of: &listener)

    now = now + .milliseconds(10)
    for datagram in answers {
        _ = talker.receive(datagram.span, from: bob, at: now)
    }
    while let event = listener.nextEvent() {
        guard case .sourceNamed(_, let name) = event else { continue }
        print("Bob hears \(name) after \(now - .start)")
    }
}

let stream = talker.sendStream
print("sent \(stream.packetCount) packets")
print("sent \(stream.retransmission.retransmittedCount) of them again")
print("received \(listener.sources[0].reception.receivedCount)")
if let view = stream.lastReceiverView, let roundTrip = view.roundTrip {
    print("Bob reports \(view.lostCount) lost, and a round trip of \(roundTrip)")
}
