import TenfourPackets
import TenfourRelayServer
import TenfourSession
import TestSupport
import Testing

/// Announcements of plain channels' groups, on the loopback interface.
@Suite(.onItsOwnThread) struct SAPAnnouncerTests {
    private let name = "studio-\(UDPPort.free())"
    private let group = Endpoint(IPAddress("239.0.1.77")!, port: UDPPort.free())
    private let sniffer: Program

    /// Starts a program that prints each announcement in one line: its group, its header in hexadecimal, and its
    /// description with `|` for LF.
    init() throws {
        sniffer = try Program(
            "python3",
            [
                "-c",
                """
                import select, socket, sys
                groups = {}
                for group in ("224.2.127.254", "224.0.0.56"):
                    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    one.bind((group, 9875))
                    membership = socket.inet_aton(group) + socket.inet_aton("127.0.0.1")
                    one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, membership)
                    groups[one] = group
                print("listening", file=sys.stderr, flush=True)
                while True:
                    for one in select.select(list(groups), [], [])[0]:
                        head, text = one.recv(2000).split(b"application/sdp\\0")
                        line = groups[one], head.hex(), text.decode().replace("\\n", "|")
                        print(*line, file=sys.stderr, flush=True)
                """,
            ])
        try #require(sniffer.says("listening"), "\(sniffer.errors)")
    }

    private func relay() throws -> RunningRelay {
        var channel = PlainChannel(
            name: name, inputs: [.init(bind: Endpoint(.loopbackV4, port: 0))], targets: [group])
        channel.announcedGroups = [group]
        return try RunningRelay(RelayServerConfiguration(bind: .anyLoopbackPort, plain: [channel]))
    }

    private func send(_ payloadType: UInt8, to relay: RunningRelay) {
        let packet = [UInt8](capacity: 16) { packet in
            RTPHeader(
                marker: true, payloadType: payloadType, sequenceNumber: SequenceNumber(rawValue: 1),
                timestamp: RTPTimestamp(rawValue: 1), ssrc: SSRC(9)
            ).write(into: &packet)
        }
        PlainSocket().send(packet, toPort: relay.plainPorts(1)[0])
    }

    /// The number of announcements or deletions to `address` with this line.
    private func count(_ address: String, isDeletion: Bool = false, _ line: String) -> Int {
        let lines = sniffer.errors.split(separator: "\n")
        return lines.count {
            $0.hasPrefix("\(address) \(isDeletion ? "24" : "20")00") && $0.contains("|s=\(name)|") && $0.contains(line)
        }
    }

    private func expect(isDeletion: Bool = false, _ line: String, place: SourceLocation = #_sourceLocation) {
        for address in ["224.2.127.254", "224.0.0.56"] {
            sniffer.wait(.seconds(10)) { count(address, isDeletion: isDeletion, line) > 0 }
            #expect(
                count(address, isDeletion: isDeletion, line) == 1, "\(address)\n\(sniffer.errors)",
                sourceLocation: place)
        }
    }

    @Test func aGroupIsAnnouncedFromItsFirstPacketToTheEnd() throws {
        let relay = try relay()
        send(127, to: relay)
        expect("7f000001 v=0|o=- ")
        expect(
            " 1 IN IP4 127.0.0.1|s=\(name)|c=IN IP4 239.0.1.77/1|t=0 0|m=audio \(group.port) RTP/AVP 127|"
                + "a=rtpmap:127 OPUS/48000/2|a=fmtp:127 sprop-stereo=0|a=recvonly|")
        #expect(sniffer.errors.split(separator: "\n").count { $0.contains("|s=\(name)|") } == 2)
        relay.stop()
        expect(isDeletion: true, "a=rtpmap:127 OPUS/48000/2|")
        // The relay's thread writes the notice after the packets.
        #expect(relay.notices.contains(.announcing(channel: name, group, payloadType: 127)))
    }

    @Test func anotherPayloadTypeIsAnotherSession() throws {
        let relay = try relay()
        send(111, to: relay)
        expect("|a=rtpmap:111 opus/48000/2|")
        send(8, to: relay)
        expect(isDeletion: true, "|a=rtpmap:111 opus/48000/2|")
        expect("RTP/AVP 8|a=rtpmap:8 PCMA/8000|a=recvonly|")
        // A static payload type of another encoding is not announced.
        send(10, to: relay)
        expect(isDeletion: true, "|a=rtpmap:8 PCMA/8000|")
        #expect(!sniffer.errors.contains("RTP/AVP 10|"))
        relay.stop()
    }

    @Test func aChannelThatIsRemovedIsTakenBack() throws {
        let relay = try relay()
        send(127, to: relay)
        expect("RTP/AVP 127|")
        relay.server.reload(RelayServerConfiguration(bind: .anyLoopbackPort))
        expect(isDeletion: true, "RTP/AVP 127|")
        relay.stop()
    }
}
