import ArgumentParser

/// Sends plain RTP.
struct LoadSend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send streams of plain RTP, 50 packets a second each.")

    @OptionGroup var places: Places
    @Option(help: "Number of packets of each stream.")
    var packets: Int

    func run() throws {
        let socket = try BoundSocket(0x7F02_0001, port: 0, to: places.port)
        talk(streams: places.streams, packets: packets) { stream, number in
            let packet = [UInt8](capacity: 256) { writePacket(stream, number, into: &$0) }
            socket.send(packet.span)
        }
        say("sent")
    }
}
