internal import Glibc

/// The reason why a call over a message bus failed.
public enum BusError: Error, Hashable, Sendable {
    /// libsystemd is not installed or too old; the text is the message of `dlopen` or `dlsym`.
    case noLibrary(String)
    /// The bus could not be reached or refused the connection; `code` is a negative errno.
    case noBus(code: Int32)
    /// No program owns the service's name on the bus, and the bus could not start one.
    case noService
    /// The service answered with an error; `name` is its D-Bus name, such as `org.freedesktop.DBus.Error.AccessDenied`.
    case refused(name: String, message: String)
    /// The bus or the service did not answer in time.
    case timedOut
    /// The answer has other types than the interface defines.
    case wrongAnswer
    /// The C function `call` failed with the negative errno `code`.
    case failed(call: String, code: Int32)
}

extension BusError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noLibrary(let words): "libsystemd cannot be opened: \(words)"
        case .noBus: "there is no message bus"
        case .noService: "the service is not installed"
        case .refused(_, let message): "refused: \(message)"
        case .timedOut: "no answer in time"
        case .wrongAnswer: "an answer of the wrong type"
        case .failed(_, let code): unsafe "the message bus failed: \(String(cString: strerror(-code)))"
        }
    }
}
