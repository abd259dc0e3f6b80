internal import TenfourRelayCore

/// Parses the lines about pairing: `pair`, `pair-members` and `pair-bits`.
extension RelayFile {
    /// The settings from these lines, and their places for error messages.
    struct PairingLines: Sendable, Equatable {
        var isOn = false
        var configuration = PairingConfiguration()
        var places: [String: RelayFileError.Place] = [:]
    }

    mutating func addPairing(_ words: [String], _ place: RelayFileError.Place) throws(RelayFileError) {
        let keyword = words[0]
        let text = words.count == 2 ? words[1] : ""
        switch keyword {
        case "pair":
            guard text == "on" || text == "off" else { throw RelayFileError(place, .value(keyword, .switch)) }
            pairing.isOn = text == "on"
        case "pair-members":
            pairing.configuration.members = try Self.limit(keyword, text, Ranges.pairMembers, place)
        default: pairing.configuration.bitsPerSecond = try Self.limit(keyword, text, Ranges.channelBits, place)
        }
        guard pairing.places.updateValue(place, forKey: keyword) == nil else {
            throw RelayFileError(place, .again(keyword))
        }
    }

    private static func limit(
        _ keyword: String, _ text: String, _ range: ClosedRange<Int>, _ place: RelayFileError.Place
    ) throws(RelayFileError) -> Int {
        guard let number = number(text, in: range) else {
            throw RelayFileError(place, .value(keyword, .number(range)))
        }
        return number
    }

    /// Sets what the lines about pairing say, and adds the errors that only the whole configuration shows.
    func finishPairing(_ configuration: inout RelayServerConfiguration, _ errors: inout RelayFileErrors) {
        guard pairing.isOn else { return }
        configuration.relay.pairing = pairing.configuration
        guard self.errors.isEmpty, let place = pairing.places["pair"] else { return }
        func note(_ text: String) { errors.note(RelayFileError(place, .message(text))) }
        let half = configuration.relay.limits.members / 2
        if let place = pairing.places["pair-members"], pairing.configuration.members > half {
            let remedy = "pair-members can be half of members at most, which is \(half): lower it, or raise members"
            errors.note(RelayFileError(place, .message(remedy)))
        }
        if keyFile == nil {
            note("stations that pair get channels that follow from the relay's key: add relay-key FILE")
        }
        if !cluster.servers.isEmpty {
            note("the relays of a cluster cannot share the channels of stations that pair: remove pair, or nats")
        }
    }
}
