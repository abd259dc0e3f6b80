/// The parameters of a network model, each with a name and a text. On a command line the name is an option.
public enum NetworkParameter: String, CaseIterable, Sendable {
    case loss, burst, gilbert, delay, jitter, order, stalls, detour, reorder, duplicate, rate, queue, header

    /// The form of the parameter's value, for a list of options.
    public var syntax: String {
        switch self {
        case .loss: "5%"
        case .burst: "a number, 1 or more"
        case .gilbert: "toBad:toGood:lossInGood:lossInBad, each a percentage"
        case .delay: "40ms"
        case .jitter:
            "constant:T, uniform:T-T, normal:DEVIATION, normal:MEAN:DEVIATION, exponential:MEAN, "
                + "gamma:SHAPE:MEAN, pareto:LEAST:SHAPE:LIMIT, or none"
        case .order: "kept or free"
        case .stalls: "100ms-200ms/2.5s or none"
        case .detour: "80ms:20s-40s, 80ms:20s-40s/60s, or none"
        case .reorder: "1% or 1%:50ms"
        case .duplicate: "0.5% or 0.5%:1ms"
        case .rate: "256kbit, 1mbit or none"
        case .queue: "100ms or 64kB"
        case .header: "a number from 0 to 1000"
        }
    }

    /// The effect of the parameter, for a list of options.
    public var summary: String {
        switch self {
        case .loss: "share of packets lost independently, or in bursts if burst is given"
        case .burst: "mean burst length, in packets"
        case .gilbert:
            "Gilbert-Elliott loss: probabilities of entering and leaving the bad state, and of loss in the good and in the bad state"
        case .delay: "constant delay of every packet"
        case .jitter: "random delay added to each packet (normal:DEVIATION has a mean of three deviations, cut at six)"
        case .order: "whether packets keep their order, or are free to overtake others"
        case .stalls: "shortest and longest stall of all packets, and the mean time between"
        case .detour:
            "extra delay between two times after the start, once or in every period"
        case .reorder: "share of packets held back, and for how long"
        case .duplicate: "share of packets delivered twice, and the time between the two"
        case .rate: "bit rate, IP and UDP headers included"
        case .queue: "longest queue before the rate limit (packets that do not fit are dropped)"
        case .header: "header bytes that the rate limit counts for each packet, 28 for IPv4 or 48 for IPv6"
        }
    }
}

/// The reason why a text is not a valid parameter.
public enum NetworkParameterError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownNetwork(String)
    case unknownParameter(String)
    case unreadable(NetworkParameter, String)
    /// `queue` or `header` was given for a network without a rate.
    case needsRate(NetworkParameter)

    public var description: String {
        switch self {
        case .unknownNetwork(let name):
            return "there is no network \(quoted(name)): write one of "
                + NamedNetwork.all.map(\.name).joined(separator: ", ") + ", or bN or gN for N percent of loss"
        case .unknownParameter(let name):
            return "there is no parameter \(quoted(name)): write one of "
                + NetworkParameter.allCases.map(\.rawValue).joined(separator: ", ")
        case .unreadable(let parameter, let text):
            return "\(parameter.rawValue) cannot be \(quoted(text)): write \(parameter.syntax)"
        case .needsRate(let parameter):
            return "\(parameter.rawValue) needs a rate: give rate first, for example rate=1mbit"
        }
    }
}

extension NetworkModel {
    /// Reads a model from text such as `lte loss=5% burst=3 rate=1mbit`: an optional named network, then parameters
    /// that change it.
    public init(parsing text: String) throws(NetworkParameterError) {
        self.init()
        for (index, word) in text.split(whereSeparator: \.isWhitespace).enumerated() {
            let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if halves.count == 2 {
                guard let parameter = NetworkParameter(rawValue: halves[0].lowercased())
                else { throw .unknownParameter(String(halves[0])) }
                try set(parameter, to: String(halves[1]))
            } else {
                guard index == 0 else { throw .unknownParameter(String(word)) }
                guard let network = NetworkModel(named: String(word)) else { throw .unknownNetwork(String(word)) }
                self = network
            }
        }
    }

    /// Sets one parameter from its text. `queue` and `header` must come after `rate`; `loss` and `burst` in any order.
    public mutating func set(_ parameter: NetworkParameter, to text: String) throws(NetworkParameterError) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(trimmed)
        let isNone = text.lowercased() == "none"
        let isRead: Bool
        switch parameter {
        case .loss: isRead = setLoss(parts)
        case .burst: isRead = setBurst(parts)
        case .gilbert: isRead = setGilbert(parts)
        case .delay: isRead = parts.count == 1 && read(duration(parts[0]), into: &delay)
        case .jitter: isRead = isNone ? clear(&jitter) : read(Distribution(parts), into: &jitter)
        case .order: isRead = read(["kept": true, "free": false][text.lowercased()], into: &keepsOrder)
        case .stalls: isRead = isNone ? clear(&stalls) : read(Stalls(parts), into: &stalls)
        case .detour: isRead = isNone ? clear(&detour) : read(Detour(parts), into: &detour)
        case .reorder: isRead = read(Reordering(parts), into: &reordering)
        case .duplicate: isRead = read(Duplication(parts), into: &duplication)
        case .rate: isRead = isNone ? clear(&bottleneck) : setRate(parts)
        case .queue, .header:
            guard bottleneck != nil else { throw .needsRate(parameter) }
            isRead = parameter == .queue ? setQueue(parts) : setHeader(parts)
        }
        guard isRead else { throw .unreadable(parameter, text) }
    }

    private mutating func setLoss(_ parts: [Substring]) -> Bool {
        guard parts.count == 1, let share = percentage(parts[0]) else { return false }
        if case .bursts(_, let meanLength) = loss {
            loss = .bursts(share: share, meanLength: meanLength)
        } else {
            loss = share > 0 ? .random(share) : .none
        }
        return true
    }

    private mutating func setBurst(_ parts: [Substring]) -> Bool {
        guard parts.count == 1, let length = Double(parts[0]), (1...1e6).contains(length) else { return false }
        switch loss {
        case .random(let share), .bursts(let share, _): loss = .bursts(share: share, meanLength: length)
        case .none, .gilbertElliott: loss = .bursts(share: 0, meanLength: length)
        }
        return true
    }

    private mutating func setGilbert(_ parts: [Substring]) -> Bool {
        let shares = parts.compactMap(percentage)
        guard parts.count == 4, shares.count == 4 else { return false }
        loss = .gilbertElliott(toBad: shares[0], toGood: shares[1], lossInGood: shares[2], lossInBad: shares[3])
        return true
    }

    private mutating func setRate(_ parts: [Substring]) -> Bool {
        guard parts.count == 1, let rate = bitRate(parts[0]) else { return false }
        if bottleneck == nil { bottleneck = Bottleneck(bitsPerSecond: rate) }
        bottleneck?.bitsPerSecond = rate
        return true
    }

    private mutating func setQueue(_ parts: [Substring]) -> Bool {
        guard parts.count == 1 else { return false }
        if let bytes = byteCount(parts[0]) {
            bottleneck?.queue = .byteCount(bytes)
        } else if let time = duration(parts[0]) {
            bottleneck?.queue = .time(time)
        } else {
            return false
        }
        return true
    }

    private mutating func setHeader(_ parts: [Substring]) -> Bool {
        guard parts.count == 1, let bytes = Int(parts[0]), (0...1000).contains(bytes) else { return false }
        bottleneck?.headerByteCount = bytes
        return true
    }
}

private func read<Value>(_ value: Value?, into place: inout Value) -> Bool {
    guard let value else { return false }
    place = value
    return true
}

private func read<Value>(_ value: Value?, into place: inout Value?) -> Bool {
    guard let value else { return false }
    place = value
    return true
}

private func clear<Value>(_ place: inout Value?) -> Bool {
    place = nil
    return true
}

extension NetworkModel: CustomStringConvertible {
    /// The parameters that describe this model, as `init(parsing:)` reads them. Of a trace, only the number of entries
    /// is written. A normal distribution is written as if its limit were three deviations above its mean.
    public var description: String {
        var words = loss.texts
        if delay > .zero { words.append("delay=" + written(delay)) }
        if let jitter { words.append("jitter=" + jitter.text) }
        if keepsOrder { words.append("order=kept") }
        if let stalls { words.append("stalls=" + stalls.text) }
        if let detour { words.append("detour=" + detour.text) }
        if let reordering { words.append("reorder=" + reordering.text) }
        if let duplication { words.append("duplicate=" + duplication.text) }
        if let bottleneck { words += bottleneck.texts }
        if let trace { words.append("(and a trace of \(trace.entries.count) entries)") }
        return words.isEmpty ? "delay=0" : words.joined(separator: " ")
    }
}
