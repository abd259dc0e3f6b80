import ArgumentParser
import Engine
import Glibc
import Keys
import Network
import RelayService
import Relaying

/// The relay that is measured.
struct Serve: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Relay the channels that the other commands load.")

    @OptionGroup var places: Places
    @Option(help: "Where plain RTP comes in for all listeners of one channel.")
    var rtpIn: UInt16?
    @Option(help: "Threads that send.")
    var workers = 1

    func run() throws {
        var configuration = RelayServerConfiguration(bind: Endpoint(.loopbackV4, port: places.port), workers: workers)
        if let rtpIn {
            let input = PlainChannel.Input(bind: Endpoint(.loopbackV4, port: rtpIn))
            let targets = (0..<places.listeners).map { Endpoint(.v4(0x7F01_0000 + UInt32($0)), port: places.sinkPort) }
            configuration.plain = [PlainChannel(name: "plain", inputs: [input], targets: targets)]
        }
        configuration.relay.channels = (0..<places.streams).compactMap { number in
            let keys = Channels.keys(number)
            return keys.talkJoin.map { .init(name: keys.name, talkJoin: $0, listenJoin: keys.listenJoin) }
        }
        configuration.relay.limits.channelMembers = 10_000
        let server = try RelayServer(configuration) { notice in if case .dropped(let drops) = notice { say("\(drops)") } }
        try server.run { (loop) throws(NetworkError) in
            for signal in [SIGINT, SIGTERM] { _ = try loop.onSignal(signal) { server.stop() } }
            say("ready")
        }
    }
}
