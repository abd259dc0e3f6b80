internal import Glibc

/// The kind of an error, for programs that act on it. The sentence beside it is for people.
///
/// The part that fails sets the kind from what it was told: an `errno`, libcurl's code, the status of HTTP.
public enum MediaErrorKind: Hashable, Sendable {
    /// The bytes are not needed any more: `ByteSource.interrupt()` or `ByteSource.stop()` was called.
    case interrupted

    // MARK: The address
    /// There is no such file, or the server has nothing at the address (status 404 or 410).
    case notFound
    /// This user may not read the file or use the card.
    case notPermitted
    /// The server or the proxy refuses the request, such as with 401, 403 or 503. The value is the status of HTTP.
    case refused(status: Int)
    /// The text is neither an address nor a path.
    case invalidAddress
    /// The address has a scheme that is not played, or leads to one.
    case unsupportedScheme

    // MARK: The network
    /// No host has this name, or no name server answers.
    case nameUnknown
    /// The server did not answer, or sent no more bytes, within the time limit.
    case timedOut
    /// No connection could be made, or it broke.
    case connectionFailed
    /// Others could read or change the data: the certificate is not trusted, or https leads to http.
    case insecure
    case tooManyRedirects
    /// The server breaks the rules of HTTP, or sends bytes that were not requested.
    case invalidResponse
    /// The bytes at the address are not those with which playback began.
    case changed

    // MARK: The audio
    /// The bytes are no audio, such as a web page, or hold no audio stream.
    case notAudio
    /// The bytes have no known format: damaged audio, another kind of file, or samples without a header.
    case unknownFormat
    /// The audio has a format that cannot be decoded here.
    case unsupportedFormat
    case damaged
    /// The stream cannot be read from the requested position.
    case notSeekable
    /// The playlist, CUE sheet or HLS stream cannot be played.
    case unplayableList

    // MARK: This machine
    case noCard
    /// Another program uses the card.
    case cardBusy
    /// The card or the output file cannot be used for another reason.
    case unusableOutput
    /// A library is not installed, too old, or was left out when this program was built.
    case libraryMissing
    /// The system has no more memory, threads, open files or disk space.
    case resourcesExhausted

    /// None of the kinds above.
    case other
}

extension ByteSourceError: CustomStringConvertible {
    /// A sentence for people that includes the remedy.
    public var description: String {
        switch self {
        case .interrupted: "reading was interrupted"
        case .failed(let sentence, _): sentence
        }
    }

    public var kind: MediaErrorKind {
        switch self {
        case .interrupted: .interrupted
        case .failed(_, let kind): kind
        }
    }
}

extension DemuxerError: CustomStringConvertible {
    /// A sentence for people that includes the remedy.
    public var description: String {
        switch self {
        case .byteSource(let error): error.description
        case .malformed(let sentence, _): sentence
        }
    }

    public var kind: MediaErrorKind {
        switch self {
        case .byteSource(let error): error.kind
        case .malformed(_, let kind): kind
        }
    }
}

extension ReaderError: CustomStringConvertible {
    /// A sentence for people that includes the remedy.
    public var description: String {
        switch self {
        case .demuxer(let error): error.description
        case .undecodable(let sentence, _): sentence
        }
    }

    public var kind: MediaErrorKind {
        switch self {
        case .demuxer(let error): error.kind
        case .undecodable(_, let kind): kind
        }
    }
}

extension StreamError {
    public var kind: MediaErrorKind {
        switch self {
        case .read(let error): error.kind
        case .unusable(_, let kind): kind
        }
    }
}

extension MediaErrorKind {
    /// The kind of an error of the system, such as of `open` and `read`. The names are those of errno(3).
    package init(errno code: Int32) {
        self =
            switch code {
            case ENOENT, ENOTDIR, ENXIO, ENODEV: .notFound
            case EACCES, EPERM: .notPermitted
            case ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT, EAGAIN: .resourcesExhausted
            case ETIMEDOUT: .timedOut
            default: .other
            }
    }
}
