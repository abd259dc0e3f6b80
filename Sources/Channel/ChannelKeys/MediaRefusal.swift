/// The reason why a relay does not forward what a member sends (Protocol/06-control.md, section "Refused packets").
public enum MediaRefusal: UInt8, CaseIterable, Sendable {
    /// The datagrams are more than the relay accepts from a talker.
    case talkerRate = 1
    /// The datagrams of all talkers are more than the relay accepts in the channel.
    case channelRate = 2
    /// Another member has the floor, in a channel that requires it.
    case floor = 3
    /// Another member, or the relay, has the SSRC.
    case takenSSRC = 4
    /// The announcement of the packets has not arrived.
    case unannounced = 5
    /// More members talk, or want to, than the channel allows.
    case tooManyTalkers = 6
    /// The member announces new SSRCs too often.
    case tooManySSRCs = 7

    /// The name in JSON and metrics, which stays the same in later versions.
    public var label: String {
        switch self {
        case .talkerRate: "talker_rate"
        case .channelRate: "channel_rate"
        case .floor: "floor"
        case .takenSSRC: "taken_ssrc"
        case .unannounced: "unannounced"
        case .tooManyTalkers: "too_many_talkers"
        case .tooManySSRCs: "too_many_ssrcs"
        }
    }
}

/// How many datagrams a relay has refused, by reason.
public struct MediaRefusalCounts: Hashable, Sendable {
    private var counts = InlineArray<7, UInt32>(repeating: 0)

    public init() {}

    public subscript(reason: MediaRefusal) -> UInt32 {
        get { counts[Int(reason.rawValue) - 1] }
        set { counts[Int(reason.rawValue) - 1] = newValue }
    }

    public var total: Int { MediaRefusal.allCases.reduce(0) { $0 + Int(self[$1]) } }

    public mutating func count(_ reason: MediaRefusal) { self[reason] = self[reason] &+ 1 }

    public static func == (left: Self, right: Self) -> Bool {
        MediaRefusal.allCases.allSatisfy { left[$0] == right[$0] }
    }

    public func hash(into hasher: inout Hasher) {
        for reason in MediaRefusal.allCases { hasher.combine(self[reason]) }
    }

    // MARK: - In a record

    private static let entryByteCount = 5
    /// The maximum number of entries in a record. A relay of a later version may know more reasons.
    private static let maximumEntryCount = 32

    /// Parses the entries of a record from byte `start` on: each a reason and its count, with ascending reasons. Entries with
    /// unknown reasons are left out.
    init(parsing body: Span<UInt8>, from start: Int) throws(ControlParseError) {
        let (count, rest) = (body.count - start).quotientAndRemainder(dividingBy: Self.entryByteCount)
        guard rest == 0, (1...Self.maximumEntryCount).contains(count) else { throw .length(body.count) }
        var last: UInt8 = 0
        for place in stride(from: start, to: body.count, by: Self.entryByteCount) {
            guard body[place] > last else { throw .value }
            last = body[place]
            if let reason = MediaRefusal(rawValue: last) { self[reason] = body.number(at: place + 1) }
        }
    }

    /// Appends an entry for each reason that has occurred.
    func write(into body: inout OutputSpan<UInt8>) {
        for reason in MediaRefusal.allCases where self[reason] > 0 {
            body.append(reason.rawValue)
            body.append(number: self[reason])
        }
    }
}
