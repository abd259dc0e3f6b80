import ArgumentParser

/// Plain RTP.
struct LoadSend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send", abstract: "Send plain RTP, 50 packets a second and stream.")

    @OptionGroup var places: Places
    @Option(help: "How many packets each stream sends.")
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
