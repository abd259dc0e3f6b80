internal import TenfourAudioCore
internal import TenfourChannelKeys
internal import TenfourFloor
internal import TenfourManagedChannel
internal import TenfourRelayCore
internal import TenfourSession

/// Parses the lines that define channels: `channel`, `rtp-in` and `rtp-out`.
extension RelayFile {
    /// Parses `channel NAME talk=KEY listen=KEY`, optionally followed by its owner, by the channel's own limits and by what
    /// it demands of talkers. Errors do not quote the line, because any word of the line may be a key.
    mutating func addChannel(_ words: [String], _ place: RelayFileError.Place) throws(RelayFileError) {
        guard words.count >= 4 else { throw RelayFileError(place, .channelForm) }
        let name = try channelName(words[1], place)
        var keys: [Role: JoinKey] = [:]
        var limits = ChannelLimits()
        var floor = FloorWords()
        var owner: IdentityKey?
        for word in words[2...] {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw RelayFileError(place, .channelForm) }
            if let role = ["talk": Role.talk, "listen": .listen][parts[0]], keys[role] == nil {
                guard let key = JoinKey(role, configurationText: String(parts[1])) else {
                    throw RelayFileError(place, .key(String(parts[0])))
                }
                keys[role] = key
            } else if parts[0] == "owner", owner == nil {
                guard let key = IdentityKey(configurationText: String(parts[1])) else {
                    throw RelayFileError(place, .owner)
                }
                owner = key
            } else if try !floor.set(parts[0], parts[1], place) {
                try limits.set(parts[0], parts[1], place)
            }
        }
        guard let talk = keys[.talk], let listen = keys[.listen] else { throw RelayFileError(place, .channelForm) }
        guard configuration.relay.channels.count < Self.maximumChannelCount else {
            throw RelayFileError(place, .tooMany("channels"))
        }
        guard !knownChannels.contains(name) else {
            throw RelayFileError(place, .again("channel \(name)"))
        }
        var other: String? = talk.channelID == listen.channelID ? name : nil
        for id in [talk.channelID, listen.channelID] {
            if let channel = knownKeys[id] { other = channel }
            knownKeys[id] = name
        }
        if let other { throw RelayFileError(place, .keyAgain(other)) }
        knownChannels.insert(name)
        var channel = RelayConfiguration.Channel(name: name, talkJoin: talk, listenJoin: listen, limits: limits)
        channel.floor = floor.configuration
        channel.owner = owner
        if owner != nil { ownerPlaces[name] = place }
        configuration.relay.channels.append(channel)
    }

    /// Parses the value of `rtp-in`: `NAME=BIND:PORT[,from=ADDRESS]`.
    mutating func addInput(_ text: String, _ place: RelayFileError.Place) throws(RelayFileError) {
        let (name, value) = try nameAndValue(text, "rtp-in", .input, place)
        let parts = value.split(separator: ",", omittingEmptySubsequences: false)
        guard let bind = parts.first.flatMap({ Endpoint($0) }), parts.count <= 2 else {
            throw RelayFileError(place, .value("rtp-in", .input))
        }
        var from: IPAddress?
        if parts.count == 2 {
            guard parts[1].hasPrefix("from="), let address = IPAddress(parts[1].dropFirst("from=".count)),
                !address.isMulticast, !address.isUnspecified
            else { throw RelayFileError(place, .value("rtp-in", .input)) }
            from = address
        }
        guard bind.port == 0 || knownInputs.insert(bind).inserted else {
            throw RelayFileError(place, .again("rtp-in at \(bind)"))
        }
        plain[name, default: Lines(place: place)].inputs.append(PlainChannel.Input(bind: bind, from: from))
    }

    /// Parses the value of `rtp-out`: `NAME=ADDRESS:PORT[,sap]`, or `NAME=@FILE` for a file with one address per line.
    mutating func addTargets(
        _ text: String, _ place: RelayFileError.Place, _ read: (String) -> [UInt8]?
    ) throws(RelayFileError) {
        let (name, value) = try nameAndValue(text, "rtp-out", .output, place)
        guard value.hasPrefix("@") else { return try addTarget(value, to: name, place, place) }
        let path = String(value.dropFirst())
        guard !path.isEmpty, let bytes = read(path) else { throw RelayFileError(place, .unreadable(path)) }
        addLines(of: bytes.span, path) { (file, words, line) throws(RelayFileError) in
            guard words.count == 1 else { throw RelayFileError(line, .target) }
            try file.addTarget(words[0][...], to: name, place, line)
        }
    }

    private mutating func addTarget(
        _ text: Substring, to name: String, _ place: RelayFileError.Place, _ line: RelayFileError.Place
    ) throws(RelayFileError) {
        let isAnnounced = text.hasSuffix(",sap")
        guard let target = Endpoint(isAnnounced ? text.dropLast(4) : text), target.port > 0,
            !target.address.isUnspecified
        else { throw RelayFileError(line, .target) }
        guard target.address.isMulticast || !isAnnounced else { throw RelayFileError(line, .announcedAddress(target)) }
        guard targetCount < Self.maximumTargetCount else { throw RelayFileError(line, .tooMany("addresses")) }
        guard plain[name, default: Lines(place: place)].knownTargets.insert(target).inserted else {
            throw RelayFileError(line, .again("rtp-out \(name)=\(target)"))
        }
        targetCount += 1
        plain[name]?.targets.append(target)
        if isAnnounced { plain[name]?.announcedGroups.append(target) }
        plain[name]?.targetPlaces.append(line)
    }

    /// Adds an error for each target that is an `rtp-in` of this relay, because its packets would circulate for ever.
    func noteCircles(in errors: inout RelayFileErrors) {
        let inputs = Dictionary(grouping: plain.values.flatMap(\.inputs), by: \.bind.port)
        for (name, lines) in plain.sorted(by: { $0.key < $1.key }) {
            for (target, place) in zip(lines.targets, lines.targetPlaces) {
                guard inputs[target.port]?.contains(where: { $0.takes(target) }) ?? false else { continue }
                errors.note(RelayFileError(place, .circle(name, target)))
            }
        }
    }

    func nameAndValue(
        _ text: String, _ keyword: String, _ what: RelayFileError.Value, _ place: RelayFileError.Place
    ) throws(RelayFileError) -> (String, Substring) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty else { throw RelayFileError(place, .value(keyword, what)) }
        return (try channelName(String(parts[0]), place), parts[1])
    }

    func channelName(_ text: String, _ place: RelayFileError.Place) throws(RelayFileError) -> String {
        do throws(ChannelLinkError) { return try ChannelLink.channelName(text) } catch {
            throw RelayFileError(place, .name)
        }
    }
}

/// What a channel's line says about the floor.
private struct FloorWords {
    private var isRequired: Bool?
    private var seconds: Int?

    /// Reads `floor=on`, `floor=required` or `talk-time=SECONDS`. Returns false for another word.
    mutating func set(
        _ word: Substring, _ text: Substring, _ place: RelayFileError.Place
    ) throws(RelayFileError) -> Bool {
        switch word {
        case "floor" where isRequired == nil:
            guard text == "required" || text == "on" else { throw RelayFileError(place, .value("floor", .floor)) }
            isRequired = text == "required"
        case "talk-time" where seconds == nil:
            guard let number = RelayFile.number(text, in: RelayFile.Ranges.talkTime) else {
                throw RelayFileError(place, .value("talk-time", .number(RelayFile.Ranges.talkTime)))
            }
            seconds = number
        default: return false
        }
        return true
    }

    /// The floor of the channel; nil if its line says nothing about it.
    var configuration: FloorArbiter.Configuration? {
        if isRequired == nil, seconds == nil { return nil }
        var configuration = FloorArbiter.Configuration(isRequired: isRequired ?? false)
        if let seconds { configuration.longestTalk = .seconds(seconds) }
        return configuration
    }
}

extension ChannelLimits {
    /// Sets one limit from a channel's line. Throws if the limit is set twice, unknown or out of range.
    fileprivate mutating func set(
        _ word: Substring, _ text: Substring, _ place: RelayFileError.Place
    ) throws(RelayFileError) {
        let limits: [Substring: (place: WritableKeyPath<ChannelLimits, Int?>, range: ClosedRange<Int>)] = [
            "members": (\.members, RelayFile.Ranges.members),
            "talkers": (\.talkers, RelayFile.Ranges.channelTalkers),
            "voices": (\.voices, RelayFile.Ranges.channelTalkers),
            "bits": (\.bitsPerSecond, RelayFile.Ranges.channelBits),
            "talker-packets": (\.talkerPacketsPerSecond, RelayFile.Ranges.talkerPackets),
            "talker-bits": (\.talkerBitsPerSecond, RelayFile.Ranges.talkerBits),
        ]
        guard let limit = limits[word], self[keyPath: limit.place] == nil else {
            throw RelayFileError(place, .channelForm)
        }
        guard let number = RelayFile.number(text, in: limit.range) else {
            throw RelayFileError(place, .value(String(word), .number(limit.range)))
        }
        self[keyPath: limit.place] = number
    }
}

extension PlainChannel.Input {
    /// Whether packets sent to `target` certainly arrive at this input.
    fileprivate func takes(_ target: Endpoint) -> Bool {
        if bind.port != target.port { return false }
        return bind.address == target.address || bind.address.isUnspecified && target.address.isLoopback
    }
}
