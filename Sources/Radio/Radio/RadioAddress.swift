public import TenfourChannelKeys

/// An address that a user typed, to talk with, to listen to or to send to.
public enum RadioAddress: Equatable, Sendable {
    /// `rtp://HOST:PORT`, or without a scheme: standard RTP, which everybody on the path can hear.
    case rtp(StreamAddress)
    /// `srtp://HOST:PORT`: standard SRTP. The address does not contain the key.
    case srtp(StreamAddress)
    /// `tenfour://HOST:PORT/NAME#SECRET`: a channel.
    case channel(ChannelLink)

    /// Parses the text that a user typed. Throws `.usage` with a remedy, and never repeats a secret.
    public init(parsing text: String) throws(RadioError) {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        switch scheme {
        case "tenfour" where text.dropFirst(scheme.count).hasPrefix("://"):
            do throws(ChannelLinkError) { self = .channel(try ChannelLink(text)) } catch {
                throw RadioError(.usage, "this is not a channel's link: \(error.description)")
            }
        case "srtp" where text.dropFirst(scheme.count).hasPrefix("://"):
            self = .srtp(try StreamAddress(parsing: text, scheme: scheme))
        default:
            self = .rtp(try StreamAddress(parsing: text))
        }
    }
}
