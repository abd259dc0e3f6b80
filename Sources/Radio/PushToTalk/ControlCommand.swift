public import TenfourJSON

/// A request of a process to a session through its control socket, apart from push to talk.
public enum ControlCommand: Equatable, Sendable {
    case state
    /// Mutes the loudspeaker, or one talker; with false, no longer.
    case mute(Bool, talker: String?)
    /// Sets the volume in decibels of all, or of one talker; with nil, asks for it.
    case volume(Double?, talker: String?)
    /// Gives the microphone to the channel of this name; with nil, asks for the channels.
    case channel(String?)
    case replay(ReplayedPart)
    case stopReplay

    /// The part that a replay plays.
    public enum ReplayedPart: String, Sendable {
        /// The last transmission.
        case transmission
        /// All of the last minute.
        case minute
    }

    /// The answer to a command with wrong arguments.
    public struct Refusal: Error, Equatable {
        /// What to write instead.
        public let sentence: String

        public init(_ sentence: String) { self.sentence = sentence }

        /// The answer as JSON.
        public var json: JSON { .refusal(sentence) }
    }

    /// The volumes in decibels that one talker can have.
    public static let talkerVolumes = -60.0...12
    /// The volumes in decibels that all talkers together can have.
    public static let volumes = -60.0...0

    /// Parses a request; nil if there is no such command. A talker is named by its name or by the `id` that `state` tells.
    public init?(_ request: ControlRequest) throws(Refusal) {
        let json = request.json
        switch request.command {
        case "state": self = .state
        case "mute":
            guard case .boolean(let isMuted)? = json.member("muted") else {
                throw Refusal(#"write { "command": "mute", "muted": true } or false"#)
            }
            self = .mute(isMuted, talker: try Self.text("talker", in: json))
        case "volume":
            let talker = try Self.text("talker", in: json)
            self = .volume(try Self.volume(in: json, talker == nil ? Self.volumes : Self.talkerVolumes), talker: talker)
        case "channel": self = .channel(try Self.text("name", in: json))
        case "replay":
            guard case .text(let range)? = json.member("range"), let part = ReplayedPart(rawValue: range) else {
                throw Refusal(#"write { "command": "replay", "range": "transmission" } or "minute""#)
            }
            self = .replay(part)
        case "stop-replay": self = .stopReplay
        default: return nil
        }
    }

    /// Returns the text of a member; nil if there is none.
    private static func text(_ name: String, in json: JSON) throws(Refusal) -> String? {
        switch json.member(name) {
        case nil: return nil
        case .text(let text): return text
        case _: throw Refusal("\(name) is a text")
        }
    }

    /// Returns the number of decibels; nil if there is none.
    private static func volume(in json: JSON, _ range: ClosedRange<Double>) throws(Refusal) -> Double? {
        let decibels: Double
        switch json.member("volume") {
        case nil: return nil
        case .integer(let number): decibels = Double(number)
        case .decimal(let number, _): decibels = number
        case _: decibels = .nan
        }
        guard range.contains(decibels) else {
            throw Refusal("volume is a number of decibels, \(Int(range.lowerBound)) to \(Int(range.upperBound))")
        }
        return decibels
    }
}
