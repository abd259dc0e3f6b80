internal import TenfourAudioCore
public import TenfourUV

/// The UDP port on which stations are called.
public struct PortFacts: Sendable {
    public enum State: Sendable {
        case free
        case failed(NetworkError)
    }

    public var port: UInt16
    public var state: State

    public init(port: UInt16, state: State) {
        self.port = port
        self.state = state
    }
}

extension DiagnosticCheck {
    /// Whether the port can be bound.
    static let port = DiagnosticCheck(name: "port") { facts in facts.port.map { [$0.finding] } }
}

extension PortFacts {
    var finding: Finding {
        guard case .failed(let error) = state else { return .well("UDP port \(port) is free") }
        switch error.reason {
        case .portInUse(_, let holder?) where holder.program == "tenfour":
            return .note(.portTaken, "UDP port \(port) is in use by a tenfour that runs (process \(holder.process))")
        case .portInUse(_, let holder):
            let end =
                holder.map { "End it (`kill \($0.process)`)" } ?? "Find it (`sudo ss -lunp sport = :\(port)`), end it"
            return .fault(
                .portTaken, "UDP port \(port) is in use by \(holder?.description ?? "another program")",
                "\(end), or choose another port with -p.")
        case .portReserved:
            return .fault(
                .portReserved, "UDP port \(port) is reserved for root", "Choose a port from 1024 to 65535 with -p.")
        case .tooManyOpenFiles:
            return .fault(.fewFiles, "too many files are open", "Raise the limit in this shell: `ulimit -n 1024`.")
        default:
            return .fault(.noSocket, String(fromPeer: error.description), "Choose another port with -p.")
        }
    }
}
