/// What is wrong with a description, and where.
public struct SDPError: Error, Hashable, Sendable {
    /// Counted from 1.
    public var line: Int
    public var reason: Reason

    init(line: Int, _ reason: Reason) {
        self.line = line
        self.reason = reason
    }

    public enum Reason: Hashable, Sendable {
        /// More than 64 KiB.
        case tooLarge(byteCount: Int)
        /// The first line is not `v=0`.
        case notADescription
        /// The line does not hold what its first letter, or its attribute, announces.
        case malformed(String)
        /// A transport other than RTP. Its name may be shown.
        case unsupportedTransport(String)
        /// An audio stream on port zero: it is turned off.
        case noPort
        case tooManyFormats
        /// No `m=audio` up to the end.
        case noAudio
        /// No `c=`, neither for the audio stream nor for the whole session.
        case noConnection
    }
}

extension SDPError: CustomStringConvertible {
    /// One sentence for a person.
    public var description: String {
        let sentence =
            switch reason {
            case .tooLarge(let byteCount):
                "this is too large for a session description: \(byteCount) bytes, more than "
                    + "\(SessionDescription.maximumByteCount)"
            case .notADescription: "this is no session description: it does not begin with v=0"
            case .malformed(let what): "\(what) cannot be understood"
            case .unsupportedTransport(let name): "the transport is \(name), not RTP/AVP or a relative of it"
            case .noPort: "the audio stream has port 0, which means that it is turned off"
            case .tooManyFormats: "there are more than \(SessionDescription.maximumFormatCount) payload types"
            case .noAudio: "there is no audio stream (m=audio) in this session description"
            case .noConnection: "no address is given (c=) for the audio stream"
            }
        return "line \(line): \(sentence)"
    }
}
