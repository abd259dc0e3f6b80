internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourRelayCore
public import TenfourSession

/// Parses a relay's configuration file, which has one setting per line. A `#` begins a comment.
///
/// `RelayFile.example` describes all settings. Every input results either in a configuration, or in errors with line
/// numbers. No error message contains text that could be a key. This type opens no file: it calls `read` for each file
/// that a line names.
public struct RelayFile: Sendable, Equatable {
    public internal(set) var configuration = RelayServerConfiguration()
    /// The path of the status socket; nil if the file does not set it.
    public private(set) var statusSocket: String?
    /// The path of the file with the relay's static key, which the caller reads or makes; nil if the relay has no key.
    public private(set) var keyFile: String?
    /// The folder for the files of channels that have an owner; nil if the file does not set it.
    public private(set) var stateFolder: String?
    /// The address at which the relay serves its metrics; nil if the file does not set it.
    public internal(set) var metrics: Endpoint?

    var plain: [String: Lines] = [:]
    /// The name of the channel for each channel id, which is derived from a join key.
    var knownKeys: [UInt128: String] = [:]
    var knownChannels: Set<String> = []
    /// The `rtp-in` addresses parsed so far, except addresses with port 0.
    var knownInputs: Set<Endpoint> = []
    var targetCount = 0
    public internal(set) var cluster = ClusterSettings()
    /// The line of each setting of the cluster, for error messages.
    var clusterPlaces: [String: RelayFileError.Place] = [:]
    var errors = RelayFileErrors()
    private var plainLimits = PlainChannel.Limits()
    /// The places of the lines `http` and `web`, by their first words.
    var webPlaces: [String: RelayFileError.Place] = [:]
    /// The lines of the channels that have an owner, for error messages.
    var ownerPlaces: [String: RelayFileError.Place] = [:]
    /// The lines about pairing.
    var pairing = PairingLines()
    /// The files of the lines `icecast`, by channel.
    var icecastFiles: [String: IcecastLine] = [:]
    private var hasBind = false

    /// One `icecast` line: the name of its file, and its place for error messages.
    struct IcecastLine: Sendable, Equatable {
        var file: String
        var place: RelayFileError.Place
    }

    /// The settings from the lines of one plain channel. `place` is the first of these lines, for error messages.
    struct Lines: Sendable, Equatable {
        var place: RelayFileError.Place
        var inputs: [PlainChannel.Input] = []
        var targets: [Endpoint] = []
        /// The line of each target, for error messages.
        var targetPlaces: [RelayFileError.Place] = []
        var knownTargets: Set<Endpoint> = []
        var announcedGroups: [Endpoint] = []
    }

    /// The maximum length of a file, in bytes. A longer file is rejected without parsing it.
    public static let maximumByteCount = 8 << 20
    public static let maximumChannelCount = 10_000
    public static let maximumTargetCount = 100_000
    /// The number of errors after which the rest of a file is not parsed.
    public static let maximumErrorCount = 1_000
    /// The number of lines without any known setting up to which a file is a relay's, with its settings misspelt.
    private static let maximumMisspeltCount = 3

    /// The valid ranges of limits that can be set for all channels or for a single channel.
    enum Ranges {
        static let members = 1...1_000_000
        static let pairMembers = 2...100_000
        static let channelTalkers = 1...10_000
        static let channelBits = 1_000...10_000_000_000
        static let talkerPackets = 1...100_000
        static let talkerBits = 1_000...1_000_000_000
        /// In seconds.
        static let talkTime = 10...86_400
    }

    public init() {}

    /// Parses a whole configuration file; `source` is its name in error messages. `read` returns the contents of
    /// another file, or nil if it cannot be read. Invalid lines are skipped, and reported by `finished`.
    public mutating func add(
        _ text: Span<UInt8>, of source: String, read: (String) -> [UInt8]? = { _ in nil }
    ) {
        addLines(of: text, source) { (file, words, place) throws(RelayFileError) in
            try file.add(words, at: place, read)
        }
    }

    /// Parses one command-line option: `keyword` (such as `rtp-in`) and `value` as they would be written in a line.
    /// Errors name the option, such as `--rtp-in`.
    public mutating func add(_ keyword: String, _ value: String, read: (String) -> [UInt8]? = { _ in nil }) {
        do throws(RelayFileError) { try add([keyword, value], at: .option("--\(keyword)"), read) } catch { note(error) }
    }

    /// Returns the configuration after all lines have been added. Throws all errors if there are any.
    public func finished() throws(RelayFileErrors) -> RelayServerConfiguration {
        var finished = configuration
        var errors = errors
        noteCircles(in: &errors)
        for (name, lines) in plain.sorted(by: { $0.key < $1.key }) {
            if knownChannels.contains(name) {
                errors.note(RelayFileError(lines.place, .plainAndEncrypted(name)))
            }
            // Reports a missing setting only if there are no other errors, because an invalid line may contain it.
            if lines.targets.isEmpty, !isOnWeb(name), icecastFiles[name] == nil, self.errors.isEmpty {
                errors.note(RelayFileError(lines.place, .noTarget(name)))
            }
            if lines.inputs.isEmpty, self.errors.isEmpty { errors.note(RelayFileError(lines.place, .noInput(name))) }
            var channel = PlainChannel(
                name: name, inputs: lines.inputs, targets: lines.targets, limits: plainLimits)
            channel.announcedGroups = lines.announcedGroups
            finished.plain.append(channel)
        }
        finishPairing(&finished, &errors)
        if finished.plain.isEmpty, finished.relay.channels.isEmpty, finished.relay.pairing == nil, self.errors.isEmpty {
            errors.note(RelayFileError(.whole, .noChannel))
        }
        finishWeb(&finished, &errors)
        finishCluster(&errors)
        finishIcecast(&finished, &errors)
        finishOwners(finished, &errors)
        guard errors.isEmpty else { throw errors }
        return finished
    }
}

// MARK: Parsing of lines

extension RelayFile {
    mutating func note(_ error: RelayFileError) { errors.note(error) }

    /// Splits a text into lines, and calls `add` with the words of each line that is not empty.
    mutating func addLines(
        of text: Span<UInt8>, _ source: String,
        _ add: (inout RelayFile, [String], RelayFileError.Place) throws(RelayFileError) -> Void
    ) {
        guard text.count <= Self.maximumByteCount else { return note(RelayFileError(.file(source), .tooLarge)) }
        var (start, number) = (0, 1)
        let earlier = errors
        // A file of another kind is reported once, and not by each of its lines.
        var (settingCount, unknownCount) = (0, 0)
        defer {
            if settingCount == 0, unknownCount > Self.maximumMisspeltCount {
                errors.replace(after: earlier, with: RelayFileError(.file(source), .foreign))
            }
        }
        while start < text.count, errors.count < Self.maximumErrorCount {
            var end = start
            while end < text.count, text[end] != UInt8(ascii: "\n") { end += 1 }
            let place = RelayFileError.Place.line(number, of: source)
            defer { (start, number) = (end + 1, number + 1) }
            do throws(RelayFileError) {
                let words = try Self.words(of: text.extracting(start..<end), place)
                if words.isEmpty { continue }
                try add(&self, words, place)
                settingCount += 1
            } catch {
                switch error.reason {
                case .unknown, .notUTF8: unknownCount += 1
                default: settingCount += 1
                }
                note(error)
            }
        }
    }

    private static func words(
        of line: Span<UInt8>, _ place: RelayFileError.Place
    ) throws(RelayFileError) -> [String] {
        var words: [[UInt8]] = [[]]
        for index in line.indices {
            if line[index] == UInt8(ascii: "#") { break }
            switch line[index] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"): words.append([])
            default: words[words.count - 1].append(line[index])
            }
        }
        var texts: [String] = []
        for word in words where !word.isEmpty {
            guard let text = String(validating: word, as: UTF8.self) else { throw RelayFileError(place, .notUTF8) }
            texts.append(text)
        }
        return texts
    }

    /// Parses a number such as `20` or `20k` (20 000). Returns nil if it is invalid or outside `range`.
    static func number(_ text: some StringProtocol, in range: ClosedRange<Int>) -> Int? {
        let isThousands = text.hasSuffix("k")
        guard let number = Int(isThousands ? String(text.dropLast()) : String(text)), number >= 0,
            number <= Int.max / 1_000, range ~= (isThousands ? number * 1_000 : number)
        else { return nil }
        return isThousands ? number * 1_000 : number
    }

    private mutating func add(
        _ words: [String], at place: RelayFileError.Place, _ read: (String) -> [UInt8]?
    ) throws(RelayFileError) {
        func value(_ what: RelayFileError.Value) throws(RelayFileError) -> String {
            guard words.count == 2 else { throw RelayFileError(place, .value(words[0], what)) }
            return words[1]
        }
        func number(_ range: ClosedRange<Int>) throws(RelayFileError) -> Int {
            guard let number = Self.number(try value(.number(range)), in: range) else {
                throw RelayFileError(place, .value(words[0], .number(range)))
            }
            return number
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
            guard let host = try? RelayHost(try value(.host)) else {
                throw RelayFileError(place, .value("name", .host))
            }
            configuration.relay.names.append(host.id)
            configuration.web.names.insert(host.name)
        case "relay-key":
            let path = try value(.path)
            guard keyFile == nil else { throw RelayFileError(place, .again("relay-key")) }
            keyFile = path
        case "state":
            guard stateFolder == nil else { throw RelayFileError(place, .again("state")) }
            stateFolder = try value(.path)
        case "channel": try addChannel(words, place)
        case "members": configuration.relay.limits.members = try number(Ranges.members)
        case "channel-members": configuration.relay.limits.channelMembers = try number(Ranges.members)
        case "channel-talkers": configuration.relay.limits.channelTalkers = try number(Ranges.channelTalkers)
        case "channel-voices": configuration.relay.limits.channelVoices = try number(Ranges.channelTalkers)
        case "channel-bits": configuration.relay.limits.channelBitsPerSecond = try number(Ranges.channelBits)
        case "talker-packets": configuration.relay.limits.talkerPacketsPerSecond = try number(Ranges.talkerPackets)
        case "talker-bits": configuration.relay.limits.talkerBitsPerSecond = try number(Ranges.talkerBits)
        case "plain-packets": plainLimits.packetsPerSecond = try number(1...1_000_000)
        case "plain-bits": plainLimits.bitsPerSecond = try number(1_000...10_000_000_000)
        case "http", "http-host", "web", "web-address", "web-proxy": try addWeb(words, place)
        case "nats", "cluster-key", "nats-ca", "nats-cert", "nats-key", "nats-credentials":
            try addCluster(words, place)
        case "pair", "pair-members", "pair-bits": try addPairing(words, place)
        case "icecast": try addIcecast(try value(.icecast), place)
        case "metrics": try addMetrics(try value(.listening), place)
        case "rtp-in": try addInput(try value(.input), place)
        case "rtp-out": try addTargets(try value(.output), place, read)
        default: throw RelayFileError(place, .unknown(RelayFileError.shown(words[0])))
        }
    }
}
