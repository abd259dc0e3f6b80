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
        /// The stream's keys are agreed by DTLS (RFC 5764), as in WebRTC.
        case needsDTLS
        /// The audio stream has port zero: it is switched off.
        case noPort
        case tooManyFormats
        /// The stream is encrypted, and none of its keys can be used. The first one has the property that is named.
        case unsupportedKey(String)
        /// There is no `m=audio` line. `others` are the kinds of other streams, such as `video`, safe to show.
        case noAudio(others: [String])
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
            case .unsupportedTransport(let name):
                "the transport is \(name), not RTP/AVP or one of its variants: ask the sender for RTP/AVP"
            case .needsDTLS:
                "the audio stream agrees on its keys by DTLS-SRTP, as WebRTC does, which is not supported: ask the "
                    + "sender for plain RTP (RTP/AVP), or for SRTP with its key in the description (a=crypto)"
            case .noPort:
                "the audio stream has port 0, which means that it is turned off: ask the sender for a description of "
                    + "a stream that is turned on"
            case .tooManyFormats: "there are more than \(SessionDescription.maximumFormatCount) payload types"
            case .unsupportedKey(let what):
                "the SRTP key (a=crypto) has \(what), which is not supported: ask the sender for a key without it"
            case .noAudio(let others):
                "there is no audio stream (m=audio) in this session description"
                    + (others.isEmpty ? "" : ", only \(others.joined(separator: ", "))")
                    + ": ask the sender for a description of its audio"
            case .noConnection: "no address is given (c=) for the audio stream"
            }
        return "line \(line): \(sentence)"
    }
}
