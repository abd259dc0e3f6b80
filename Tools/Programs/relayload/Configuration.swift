import ArgumentParser
import TenfourChannelKeys

/// Prints the configuration of the relay to be measured.
struct Configuration: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print a configuration for a test relay, with the channels that the other commands use.")

    @OptionGroup var places: Places
    @Option(help: "The port for plain RTP that the relay forwards to all listeners. Default: none.")
    var rtpIn: UInt16?
    @Flag(help: "Add a channel with floor control.")
    var floor = false
    @Option(help: "Number of sending threads.")
    var workers = 1

    func run() {
        print("bind 127.0.0.1:\(places.port)\nworkers \(workers)\nchannel-members 10000")
        if let rtpIn {
            print("rtp-in plain=127.0.0.1:\(rtpIn)")
            for listener in 0..<places.listeners {
                print("rtp-out plain=127.1.\(listener >> 8).\(listener & 255):\(places.sinkPort)")
            }
            return
        }
        for number in 0..<places.streams + (floor ? 1 : 0) {
            let keys = Channels.keys(number)
            guard let talk = keys.talkJoin else { continue }
            let line = "channel \(keys.name) talk=\(talk.configurationText) listen=\(keys.listenJoin.configurationText)"
            print(number < places.streams ? line : line + " floor=on")
        }
    }
}
