public import ArgumentParser
import TenfourNetworkEmulator
public import TenfourRadio

/// The options for the speech and the network.
struct TraceOptions: ParsableArguments {
    @Argument(help: "The speech: a sound file, mono at 48 kHz.")
    var speech: String

    @Option(help: "The name of a simulated network, such as b5; badlink --list describes them.")
    var network = "b5"

    @Option(help: "The first random seed.")
    var seed: UInt64 = 1

    @Option(help: "Bit rate of all payloads together, in bit/s.")
    var bitrate = 24_000

    @Option(help: "How many seconds of the speech to use.")
    var seconds = 60.0

    @Option(help: "Neural models of libopus 1.5: auto (all), plain (none), plc (for lost audio) or full (for all).")
    var decoder = DecoderChoice.auto

    func model() throws -> NetworkModel {
        guard let model = NetworkModel(named: network) else {
            throw ValidationError("there is no network \(network): badlink --list shows the networks")
        }
        return model
    }

    func packets(expectLoss: Int) throws -> EncodedSpeech {
        try EncodedSpeech(path: speech, seconds: seconds, bitRate: bitrate, expectedLoss: expectLoss)
    }
}

extension DecoderChoice: ExpressibleByArgument {}
