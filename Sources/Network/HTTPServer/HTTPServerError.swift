public import TenfourUV

/// The reason why an HTTP server could not start.
public enum HTTPServerError: Error, Equatable, Sendable {
    /// libmicrohttpd could not be loaded; the text is the reason of `dlopen`.
    case libraryMissing(String)
    /// libmicrohttpd was loaded and refused to start, for lack of memory or descriptors.
    case refused
    case network(NetworkError)
}

extension HTTPServerError: CustomStringConvertible {
    /// One sentence that ends with the remedy.
    public var description: String {
        switch self {
        case .libraryMissing(let reason):
            "an HTTP server needs libmicrohttpd, which cannot be loaded (\(reason)): run `apt-get install libmicrohttpd12`"
        case .refused: "libmicrohttpd cannot start; close other programs to free memory and open files"
        case .network(let error): error.description
        }
    }
}
