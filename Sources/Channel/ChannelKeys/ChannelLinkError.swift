/// The reason why a text is not a valid link of a channel. Contains nothing of the secret except a misspelt word.
public enum ChannelLinkError: Error, Hashable, Sendable, CustomStringConvertible {
    case tooLong
    case character
    case scheme
    case noSecret
    case host
    case port
    case relayCount
    case name
    case marker
    case fingerprint
    case fingerprintWithoutRelay
    case pass
    case passParts
    case secretCharacter
    case secretWord(Misspelling)
    case secretLength
    case secretCheck
    case tag
    case percent
    case passphrase(PassphraseError)

    public var description: String {
        switch self {
        case .tooLong: "the link is longer than \(ChannelLink.maximumByteCount) characters; copy it again"
        case .character: "the link contains a space, a control character or a character outside ASCII; copy it again"
        case .scheme: "a channel's link begins with tenfour://"
        case .noSecret:
            "the link has no secret after a #; copy the whole link, or write rtp:// for a stream without encryption"
        case .host:
            "the link's host is neither a name nor an address; write an IPv6 address in brackets, and a comma between two hosts"
        case .port: "the link's port is not a number from 1 to 65535"
        case .relayCount: "the link has more than \(ChannelLink.maximumRelayCount) hosts"
        case .name:
            "the channel's name must have 1 to 32 characters from a-z, 0-9, '-', '.' and '_', and begin with a letter or digit"
        case .marker:
            "the part after the # does not begin with relay-, pass-, talk-, listen- or phrase-; copy the link again"
        case .fingerprint:
            "the relay's fingerprint in the link (relay-, \(RelayFingerprint.digitCount) letters and digits, and a full stop) has a typing error; copy the link again"
        case .fingerprintWithoutRelay: "the link has a relay's fingerprint, but names no relay; copy the link again"
        case .pass:
            "the pass in the link (pass-, \(ChannelPass.digitCount) letters and digits, and a full stop) has a typing error; copy the link again"
        case .passParts:
            "a link with a pass names one relay, has a secret for talking (talk-), and no relay's fingerprint; copy the link again"
        case .secretCharacter:
            "the secret contains a character other than a-z, 2-7 and '-'; copy the link again"
        case .secretWord(let misspelling): misspelling.description
        case .secretLength:
            "the secret does not have \(Secret.letterCount) letters and digits, or \(Secret.wordCount) words; copy the link again"
        case .secretCheck:
            "the secret contains a typing error, or is that of the other link (talk or listen); copy the link again"
        case .tag: "after phrase- must come eight letters and digits and a hyphen; copy the whole link"
        case .percent: "a % in the passphrase is not followed by two hexadecimal digits"
        case .passphrase(let error): error.description
        }
    }
}

extension Misspelling: CustomStringConvertible {
    public var description: String {
        guard !word.isEmpty else { return "word \(place) of the secret is empty: two hyphens follow each other" }
        let remedy =
            switch nearest.count {
            case 0: "ask for it again"
            case 1: "'\(nearest[0])' may be right"
            default: "\(nearest.map { "'\($0)'" }.joined(separator: " or ")) may be right"
            }
        return "word \(place) of the secret, '\(word)', is not in the word list: \(remedy)"
    }
}
