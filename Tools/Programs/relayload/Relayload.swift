import ArgumentParser

/// Loads a relay for measurements: with talkers, members that join by the real protocol, and random datagrams.
@main
struct Relayload: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Put load on a relay on this machine, for Tools/benchmark.",
        subcommands: [
            Configuration.self, LoadSend.self, LoadJoin.self, LoadFloor.self, Flood.self, Strangers.self, Joins.self,
        ])
}

/// The options for the ports and the numbers of talkers and listeners.
struct Places: ParsableArguments {
    @Option(help: "The port of the relay on 127.0.0.1, or its port for plain RTP.")
    var port: UInt16
    @Option(help: "Number of talkers, each in a channel of its own.")
    var streams = 1
    @Option(help: "Number of listeners in each channel, at 127.1.0.0 and the following addresses.")
    var listeners = 0
    @Option(help: "The port to which the relay sends for every listener.")
    var sinkPort: UInt16 = 0
}
