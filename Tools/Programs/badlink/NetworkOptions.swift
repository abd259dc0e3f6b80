import ArgumentParser
import TenfourCommandSupport
import TenfourNetworkEmulator
import TenfourRadio

/// The options that describe a network: a name or a trace, and parameters that change it.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: "Start from this named network; --list shows them all.", completion: .list(NamedNetwork.all.map(\.name)))
    var network: String?
    @Option(
        help: ArgumentHelp(
            "Also apply a measured trace, a CSV file with the column delay_ms or the columns t_ms and delay_ms. Write lost instead of a delay for a lost packet.",
            valueName: "file"), completion: .file(extensions: ["csv"]))
    var trace: String?

    @Option(help: help(.loss)) var loss: String?
    @Option(help: help(.burst)) var burst: String?
    @Option(help: help(.gilbert)) var gilbert: String?
    @Option(help: help(.delay)) var delay: String?
    @Option(help: help(.jitter)) var jitter: String?
    @Option(help: help(.order)) var order: String?
    @Option(help: help(.stalls)) var stalls: String?
    @Option(help: help(.detour)) var detour: String?
    @Option(help: help(.reorder)) var reorder: String?
    @Option(help: help(.duplicate)) var duplicate: String?
    @Option(help: help(.rate)) var rate: String?
    @Option(help: help(.queue)) var queue: String?
    @Option(help: help(.header)) var header: String?

    /// Returns the network that these options describe. Reads the trace from its file.
    func model() throws -> NetworkModel {
        var model = NetworkModel()
        if let network { model = try NetworkModel(parsing: network) }
        if let trace {
            do {
                model.trace = try Trace(parsing: String(decoding: try Console.read(trace), as: UTF8.self))
            } catch let error as TraceError {
                throw RadioError(.unavailable, "\(trace) cannot be used: \(error)")
            }
        }
        for parameter in NetworkParameter.allCases {
            if let text = self[parameter] { try model.set(parameter, to: text) }
        }
        return model
    }

    private subscript(parameter: NetworkParameter) -> String? {
        switch parameter {
        case .loss: loss
        case .burst: burst
        case .gilbert: gilbert
        case .delay: delay
        case .jitter: jitter
        case .order: order
        case .stalls: stalls
        case .detour: detour
        case .reorder: reorder
        case .duplicate: duplicate
        case .rate: rate
        case .queue: queue
        case .header: header
        }
    }
}

private func help(_ parameter: NetworkParameter) -> ArgumentHelp {
    // A syntax that begins with a digit is an example.
    let joint = parameter.syntax.first?.isNumber == true ? ", such as " : ": "
    return "\(parameter.summary.prefix(1).uppercased())\(parameter.summary.dropFirst())\(joint)\(parameter.syntax)."
}
