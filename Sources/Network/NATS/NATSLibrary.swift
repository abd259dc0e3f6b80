internal import CNATS

/// The functions of libnats, which Sources/C/CNATS lists.
///
/// `try!` cannot fail after `loadNATS` has returned, and all code that uses libnats calls `loadNATS` first.
let nats = try! opened.get()

/// Loads libnats on the first call, from any thread. Throws if it is not installed.
func loadNATS() throws(NATSError) { _ = try opened.get() }

private let opened = Result { () throws(NATSError) in
    try openNATS(["libnats.so.3.4", "libnats.so.3.8", "libnats.so"])
}

/// Loads the first of `files` that is installed. The C function is `dlopen`.
func openNATS(_ files: [String]) throws(NATSError) -> tenfour_nats {
    var reason = ""
    for file in files {
        var failure: UnsafePointer<CChar>?
        let nats = unsafe tenfour_nats_open(file, &failure)
        guard let failure = unsafe failure else { return nats }
        if reason.isEmpty { reason = unsafe String(cString: failure) }
    }
    throw .missing(reason)
}

/// The reason why a connection to NATS cannot be made, with the remedy.
public enum NATSError: Error, Hashable, Sendable {
    /// libnats is not installed, or a function of it is missing; the text is that of `dlerror`.
    case missing(String)
    /// libnats refused a certificate, key or credentials file; the text is its reason.
    case option(file: String, String)
    /// The system could not create a thread.
    case thread(Int32)
}

extension NATSError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .missing(let reason):
            "a cluster needs libnats, which cannot be loaded (\(reason)): run `apt-get install libnats3.4`"
        case .option(let file, let reason):
            "libnats cannot use \(file): \(reason); check its path and its contents"
        case .thread(let code): "the system can start no thread for NATS (errno \(code)); close other programs"
        }
    }
}
