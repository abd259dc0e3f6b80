import Glibc
import TestSupport
import Testing

/// Two stations on one machine, on the ports that a user tries first: an even one and the next.
@Suite(.onItsOwnThread, .inRealTime) struct NeighbourTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    init() { folder.write(longTone, to: "long.wav") }

    /// Starts one of two stations that talk to each other by the name of their machine.
    private func talker(_ name: String, on port: UInt16, with other: UInt16) throws -> Program {
        try Program(
            "tenfour",
            ["talk", "localhost:\(other)", "-p", "\(port)", "--name", name, "--open", "--input", "long.wav"]
                + ["-o", "\(name).wav"],
            in: folder)
    }

    enum Order: CaseIterable { case lowerFirst, upperFirst, together }

    @Test(arguments: Order.allCases) func stationsOnNeighbouringPortsHearEachOther(order: Order) throws {
        let lower = { try talker("Low", on: port, with: port + 1) }
        let upper = { try talker("Up", on: port + 1, with: port) }
        var stations: [Program]
        switch order {
        case .together: stations = [try lower(), try upper()]
        case .lowerFirst, .upperFirst:
            let isLower = order == .lowerFirst
            stations = [try isLower ? lower() : upper()]
            try #require(stations[0].takes(port: isLower ? port : port + 1), "\(stations[0].errors)")
            stations.append(try isLower ? upper() : lower())
        }
        for (rtpSession, other) in zip(stations, order == .upperFirst ? ["Low", "Up"] : ["Up", "Low"]) {
            #expect(rtpSession.says("is \(other)"), "\(rtpSession.errors)")
            #expect(!rtpSession.errors.contains("this station itself"))
        }
        stations[0].wait(.seconds(2)) { false }
        for rtpSession in stations { rtpSession.send(SIGINT) }
        for rtpSession in stations {
            #expect(rtpSession.wait() == .code(0), "\(rtpSession.errors)")
            #expect(!rtpSession.errors.contains("come back"), "\(rtpSession.errors)")
        }
        for name in ["Low", "Up"] {
            let tone = try #require(Tone(in: try Recording(wav: folder("\(name).wav")).channels[0]))
            #expect(abs(tone.frequency - Tone.telling) < 1 && tone.duration > 1, "\(tone)")
        }
    }

    /// Two independent receivers, each with its own sender, bound to all addresses or to one.
    @Test(arguments: ["", "127.0.0.1"], ["", "127.0.0.1"])
    func receiversOnNeighbouringPortsHearTheirOwn(lowerHost: String, upperHost: String) throws {
        let ports = [port, port + 1]
        let receivers = try zip(ports, [lowerHost, upperHost]).map { port, host in
            let receiver = try Program("tenfour", ["recv", "rtp://\(host):\(port)", "-o", "\(port).wav"], in: folder)
            try #require(receiver.says("receiving"), "\(receiver.errors)")
            return receiver
        }
        let senders = try ports.map { port in
            try Program(
                "tenfour",
                ["send", "--input", "long.wav", "rtp://127.0.0.1:\(port)", "--name", "for \(port)"], in: folder)
        }
        for (receiver, port) in zip(receivers, ports) {
            #expect(receiver.says("is for \(port)"), "\(receiver.errors)")
        }
        for program in senders + receivers {
            program.send(SIGINT)
            #expect(program.wait() == .code(0), "\(program.errors)")
        }
        for (receiver, other) in zip(receivers, ports.reversed()) {
            #expect(!receiver.errors.contains("for \(other)"), "\(receiver.errors)")
        }
    }

    @Test func aStationOnItsPartnersPortLearnsThatItTalksToItself() throws {
        for host in ["localhost", "127.0.0.1"] {
            let result = try tenfour(
                ["talk", "\(host):\(port)", "-p", "\(port)", "--input", "long.wav", "-o", "self.wav", "-d", "0.5"],
                in: folder)
            #expect(result.end == .code(0))
            #expect(result.errors.contains("is the address of this station itself"), "\(result.errors)")
            #expect(result.errors.contains(":\(port + 2)"), "\(result.errors)")
        }
    }

    @Test func aPortThatIsTakenIsSaidToBeWhose() throws {
        let first = try Program("tenfour", ["recv", "-p", "\(port)", "-o", "first.wav"], in: folder)
        try #require(first.says("receiving"), "\(first.errors)")
        for arguments in [["recv", "-p", "\(port)"], ["talk", "localhost", "-p", "\(port)", "--input", "long.wav"]] {
            let second = try tenfour(arguments + ["-o", "second.wav"], in: folder)
            #expect(second.end == .code(69))
            #expect(
                second.errors.wholeMatch(
                    of: /tenfour: UDP port \d+ is in use by tenfour \(process \d+\); choose another, .*\n/) != nil,
                "\(second.errors)")
        }
    }
}
