/// An error in a session description, with its line.
public struct SDPError: Error, Hashable, Sendable {
    /// The number of the line, counted from 1.
    public var line: Int
    public var reason: Reason

    init(line: Int, _ reason: Reason) {
        self.line = line
        self.reason = reason
    }

    public enum Reason: Hashable, Sendable {
        /// The description is longer than 64 KiB.
        case tooLarge(byteCount: Int)
        /// The first line is not `v=0`.
        case notADescription
        /// The line does not have the form that its type or attribute requires.
        case malformed(String)
        /// The transport is not RTP. Its name is safe to show.
        case unsupportedTransport(String)
        /// The audio stream has port zero: it is switched off.
        case noPort
        case tooManyFormats
        /// There is no `m=audio` line.
        case noAudio
        /// There is no `c=` line, neither for the audio stream nor for the session.
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
            case .notADescription: "this is not a session description: it does not begin with v=0"
            case .malformed(let what): "\(what) cannot be understood"
            case .unsupportedTransport(let name): "the transport is \(name), not RTP/AVP or one of its variants"
            case .noPort: "the audio stream has port 0, which means that it is turned off"
            case .tooManyFormats: "there are more than \(SessionDescription.maximumFormatCount) payload types"
            case .noAudio: "there is no audio stream (m=audio) in this session description"
            case .noConnection: "no address is given (c=) for the audio stream"
            }
        return "line \(line): \(sentence)"
    }
}
