internal import TenfourAudioCore
public import TenfourPackets

/// States to a talker of a channel how members receive it, as they have told the relay (Protocol/06-control.md, "Who hears
/// the talker"). It is the body of a HEARING LIST.
public struct HearingList: Hashable, Sendable {
    public var talker: SSRC
    /// The number of all members of the channel except the talker. Where it is larger than the number of `entries`, only
    /// some members were asked.
    public var memberCount: Int
    /// The members that were asked, at most 30.
    public var entries: [Entry]

    /// One member that was asked.
    public struct Entry: Hashable, Sendable {
        /// The relay's number of the member, as in the roster.
        public var member: UInt32
        /// The SSRC of the member's media, from its info; nil if it is not known. The record does not contain it.
        public var ssrc: SSRC?
        /// The last statement of the member; nil if it has never answered.
        public var statement: Statement?

        public init(member: UInt32, statement: Statement?) {
            self.member = member
            self.statement = statement
        }
    }

    /// The statement of a member about the talker.
    public struct Statement: Hashable, Sendable {
        /// The time since the statement arrived at the relay, at most 6.2 s, in steps of 100 ms.
        public var age: Duration
        public var output: StationStatus.Output
        /// The playout of the talker; nil if no packet of it has arrived.
        public var playout: StationStatus.Playout?

        public init(age: Duration, output: StationStatus.Output, playout: StationStatus.Playout?) {
            self.age = age
            self.output = output
            self.playout = playout
        }
    }

    public init(talker: SSRC, memberCount: Int, entries: [Entry]) {
        self.talker = talker
        self.memberCount = memberCount
        self.entries = entries
    }

    /// The maximum number of `entries`.
    public static let maximumEntryCount = 30
    private static let headByteCount = 8
    private static let entryByteCount = 8
    private static let ageStep = Duration.milliseconds(100)
    private static let ageMask: UInt8 = 0x3F
    /// The age in the record of a member that has never answered.
    private static let noStatement: UInt8 = 0x3F
    private static let highestAge = 0x3E
    /// The age that stands for itself and all longer ones.
    static let maximumAge = ageStep * highestAge
    /// The output in the record of a member that has received nothing from the talker.
    private static let nothingArrived: UInt8 = 3

    /// Reads the body of a record; nil if it is malformed.
    package init?(_ body: Span<UInt8>) {
        let entriesByteCount = body.count - Self.headByteCount
        guard entriesByteCount >= 0, entriesByteCount % Self.entryByteCount == 0,
            entriesByteCount / Self.entryByteCount <= Self.maximumEntryCount
        else { return nil }
        let talker = SSRC(body.uint32(at: 0))
        self.talker = talker
        memberCount = Int(body.uint32(at: 4))
        entries = stride(from: Self.headByteCount, to: body.count, by: Self.entryByteCount).map {
            Entry(member: body.uint32(at: $0), statement: Self.statement(about: talker, in: body, at: $0))
        }
    }

    private static func statement(about talker: SSRC, in body: Span<UInt8>, at start: Int) -> Statement? {
        let age = body[start + 4] & ageMask
        guard age != noStatement else { return nil }
        let output = StationStatus.Output(rawValue: body[start + 4] >> 6)
        let playout = StationStatus.Playout(
            source: talker, missingShare: Double(share: body[start + 5]),
            highestSequenceNumber: SequenceNumber(rawValue: body.uint16(at: start + 6)))
        return Statement(age: ageStep * Int(age), output: output ?? .playing, playout: output.map { _ in playout })
    }

    /// Appends the body of the record, 8 to 248 bytes.
    package func write(into body: inout OutputSpan<UInt8>) {
        body.append(bigEndian: talker.rawValue)
        body.append(bigEndian: UInt32(clamping: memberCount))
        for entry in entries.prefix(Self.maximumEntryCount) {
            body.append(bigEndian: entry.member)
            guard let statement = entry.statement else {
                body.append(Self.noStatement)
                body.append(repeating: 0, count: 3)
                continue
            }
            let age = UInt8(min(max(Int(statement.age / Self.ageStep), 0), Self.highestAge))
            guard let playout = statement.playout else {
                body.append(Self.nothingArrived << 6 | age)
                body.append(repeating: 0, count: 3)
                continue
            }
            body.append(statement.output.rawValue << 6 | age)
            body.append(UInt8(share: playout.missingShare))
            body.append(bigEndian: playout.highestSequenceNumber.rawValue)
        }
    }
}

extension Double {
    /// The share of 0…1 that a byte stands for, in steps of 1/255.
    init(share byte: UInt8) { self = Double(byte) / 255 }
}

extension UInt8 {
    /// A share of 0…1 in steps of 1/255.
    init(share: Double) { self.init(clamping: Int((Swift.min(Swift.max(share, 0), 1) * 255).rounded())) }
}
