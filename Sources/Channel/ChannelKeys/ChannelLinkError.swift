/// The reason why a text is not a valid link of a channel. Contains nothing of the secret except a misspelt word.
public enum ChannelLinkError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLong
    case character
    case scheme
    case noSecret
    case host
    case port
    case name
    case marker
    case secretCharacter
    case secretWord(Misspelling)
    case secretLength
    case secretCheck
    case tag
    case percent
    case passphrase(PassphraseError)

    public var description: String {
        switch self {
        case .tooLong: "a link has \(ChannelLink.maximumByteCount) characters at the most"
        case .character: "a link holds no spaces, controls or characters beyond ASCII"
        case .scheme: "a channel's link begins with tenfour://"
        case .noSecret: "the link has no secret behind a #: channels are never played plain (rtp:// is)"
        case .host: "the link's host is neither a name nor an address; IPv6 addresses stand in brackets"
        case .port: "the link's port is not within 1…65535"
        case .name:
            "the channel's name is not 1 to 32 of a…z, 0…9, '-', '.' and '_', of which the first is a letter or digit"
        case .marker: "behind the # stands neither talk-, listen- nor phrase-"
        case .secretCharacter:
            "the secret holds a character that is none of a…z, 2…7 and '-'"
        case .secretWord(let misspelling): misspelling.description
        case .secretLength: "the secret has not \(Secret.letterCount) letters and digits, or \(Secret.wordCount) words"
        case .secretCheck: "the secret is misspelt somewhere, or it belongs to a link of the other kind"
        case .tag: "behind phrase- eight letters and digits and a hyphen are missing: the passphrase alone is no link"
        case .percent: "a % in the passphrase is not followed by two hexadecimal digits"
        case .passphrase(let error): error.description
        }
    }
}

extension Misspelling: CustomStringConvertible {
    public var description: String {
        guard !word.isEmpty else { return "word \(place) of the secret is missing between two hyphens" }
        let remedy =
            switch nearest.count {
            case 0: "ask for it again"
            case 1: "'\(nearest[0])' may be meant"
            default: "\(nearest.map { "'\($0)'" }.joined(separator: " or ")) may be meant"
            }
        return "word \(place) of the secret, '\(word)', is none that links are made of: \(remedy)"
    }
}
