/// Why a call over a message bus gave nothing.
public enum BusError: Error, Hashable, Sendable {
    /// libsystemd is not on this machine or too old; in the words of `dlopen` or `dlsym`.
    case noLibrary(String)
    /// There is no bus, or it does not let us in; `code` is an errno below zero.
    case noBus(code: Int32)
    /// No program has this name on the bus, and the bus could not start one for it.
    case noService
    /// The answer is an error; `name` is D-Bus's, such as `org.freedesktop.DBus.Error.AccessDenied`.
    case refused(name: String, message: String)
    /// The bus or the service did not answer in time.
    case timedOut
    /// The answer has other types than the interface says.
    case wrongAnswer
    /// The C function failed with this errno below zero.
    case failed(call: String, code: Int32)
}

extension BusError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noLibrary(let words): "libsystemd cannot be opened: \(words)"
        case .noBus: "there is no system bus"
        case .noService: "the service is not installed"
        case .refused(_, let message): "refused: \(message)"
        case .timedOut: "no answer in time"
        case .wrongAnswer: "an answer of the wrong type"
        case .failed(let call, let code): "\(call) failed with \(code)"
        }
    }
}
