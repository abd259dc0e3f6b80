internal import Engine
internal import Keys
internal import RTP
internal import Relaying

/// A relay's configuration as its operator writes it: one line a thing, `#` begins a comment.
///
/// `RelayFile.example` says what there is. Total: any bytes give a configuration, or the line and the reason; no reason
/// repeats what could be a key. Opens no file: `read` is asked for those that a line names.
public struct RelayFile: Sendable, Equatable {
    public internal(set) var configuration = RelayServerConfiguration()
    /// Where status is to be had; nil leaves it to whoever runs the relay.
    public private(set) var statusSocket: String?

    var plain: [String: Lines] = [:]
    /// Channels by the ids that follow from their keys.
    var knownKeys: [UInt128: String] = [:]
    var targetCount = 0
    private var plainLimits = PlainChannel.Limits()
    private var hasBind = false

    /// What a plain channel's lines say, and the first of them.
    struct Lines: Sendable, Equatable {
        var place: RelayFileError.Place
        var inputs: [PlainChannel.Input] = []
        var targets: [Endpoint] = []
        /// Where each target stands.
        var targetPlaces: [RelayFileError.Place] = []
        var knownTargets: Set<Endpoint> = []
    }

    /// More is refused unread.
    public static let maximumByteCount = 8 << 20
    public static let maximumChannelCount = 10_000
    public static let maximumTargetCount = 100_000

    public init() {}

    /// Takes in a whole text, which `source` names for people. `read` gives what another file holds, nil where that cannot be.
    public mutating func add(
        _ text: Span<UInt8>, of source: String, read: (String) -> [UInt8]? = { _ in nil }
    ) throws(RelayFileError) {
        try Self.forEachLine(of: text, source) { (words, place) throws(RelayFileError) in
            try add(words, at: place, read)
        }
    }

    /// One thing from the command line: `rtp-in` and what would stand behind it in a line, said to come from `--rtp-in`.
    public mutating func add(
        _ keyword: String, _ value: String, read: (String) -> [UInt8]? = { _ in nil }
    ) throws(RelayFileError) {
        try add([keyword, value], at: .option("--\(keyword)"), read)
    }

    /// What the lines come to, once all are there.
    public func finished() throws(RelayFileError) -> RelayServerConfiguration {
        var finished = configuration
        try refuseCircles()
        for (name, lines) in plain.sorted(by: { $0.key < $1.key }) {
            guard !configuration.relay.channels.contains(where: { $0.name == name }) else {
                throw RelayFileError(lines.place, .plainAndEncrypted(name))
            }
            guard !lines.targets.isEmpty else { throw RelayFileError(lines.place, .noTarget(name)) }
            guard !lines.inputs.isEmpty else { throw RelayFileError(lines.place, .noInput(name)) }
            finished.plain.append(
                PlainChannel(name: name, inputs: lines.inputs, targets: lines.targets, limits: plainLimits))
        }
        guard !finished.plain.isEmpty || !finished.relay.channels.isEmpty else {
            throw RelayFileError(.whole, .noChannel)
        }
        return finished
    }
}

// MARK: Lines

extension RelayFile {
    static func forEachLine(
        of text: Span<UInt8>, _ source: String,
        _ body: ([String], RelayFileError.Place) throws(RelayFileError) -> Void
    ) throws(RelayFileError) {
        guard text.count <= maximumByteCount else { throw RelayFileError(.file(source), .tooLarge) }
        var (start, number) = (0, 1)
        while start < text.count {
            var end = start
            while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
            var words: [[UInt8]] = [[]]
            for index in start..<end {
                if text[index] == UInt8(ascii: "#") { break }
                switch text[index] {
                case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): words.append([])
                default: words[words.count - 1].append(text[index])
                }
            }
            words.removeAll(where: \.isEmpty)
            let place = RelayFileError.Place.line(number, of: source)
            if !words.isEmpty {
                var texts: [String] = []
                for word in words {
                    guard let text = String(validating: word, as: UTF8.self) else {
                        throw RelayFileError(place, .notUTF8)
                    }
                    texts.append(text)
                }
                try body(texts, place)
            }
            (start, number) = (end + 1, number + 1)
        }
    }

    private mutating func add(
        _ words: [String], at place: RelayFileError.Place, _ read: (String) -> [UInt8]?
    ) throws(RelayFileError) {
        func value(_ what: RelayFileError.Value) throws(RelayFileError) -> String {
            guard words.count == 2 else { throw RelayFileError(place, .value(words[0], what)) }
            return words[1]
        }
        func number(_ range: ClosedRange<Int>) throws(RelayFileError) -> Int {
            let text = try value(.number(range))
            let isThousands = text.hasSuffix("k")
            guard let number = Int(isThousands ? text.dropLast() : text[...]), number >= 0, number <= Int.max / 1_000,
                range ~= (isThousands ? number * 1_000 : number)
            else { throw RelayFileError(place, .value(words[0], .number(range))) }
            return isThousands ? number * 1_000 : number
        }
        switch words[0] {
        case "bind":
            guard let endpoint = Endpoint(try value(.address)), !endpoint.address.isMulticast else {
                throw RelayFileError(place, .value("bind", .address))
            }
            guard !hasBind else { throw RelayFileError(place, .again("bind")) }
            hasBind = true
            configuration.bind = endpoint
        case "workers": configuration.workers = try number(1...64)
        case "status-socket":
            let path = try value(.path)
            guard path.utf8.count <= 107 else { throw RelayFileError(place, .value("status-socket", .path)) }
            statusSocket = path
        case "name":
            let text = try value(.host)
            do throws(ChannelLinkError) {
                let (host, port) = try ChannelLink.hostAndPort(text)
                configuration.relay.names.append(RelayID(host: host, port: port))
            } catch {
                throw RelayFileError(place, .value("name", .host))
            }
        case "channel": try addChannel(words, place)
        case "members": configuration.relay.limits.members = try number(1...1_000_000)
        case "channel-members": configuration.relay.limits.channelMembers = try number(1...1_000_000)
        case "talker-packets": configuration.relay.limits.talkerPacketsPerSecond = try number(1...100_000)
        case "talker-bits": configuration.relay.limits.talkerBitsPerSecond = try number(1_000...1_000_000_000)
        case "plain-packets": plainLimits.packetsPerSecond = try number(1...1_000_000)
        case "plain-bits": plainLimits.bitsPerSecond = try number(1_000...10_000_000_000)
        case "rtp-in": try addInput(try value(.input), place)
        case "rtp-out": try addTargets(try value(.output), place, read)
        default: throw RelayFileError(place, .unknown(RelayFileError.shown(words[0])))
        }
    }
}
