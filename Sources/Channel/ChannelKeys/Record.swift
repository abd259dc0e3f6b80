public import TenfourFloor
public import TenfourPackets
public import TenfourSession

/// The messages of a session between a member and the relay, after the handshake (Protocol/06-control.md).
///
/// To add a type of record, add its case, its code, its parsing with a check of the length, and its writing to this
/// file. The compiler then reports each switch, in member and relay, that must handle the new case.
public enum Record: Hashable, Sendable {
    /// The member renews its lease, or checks that the relay answers. The relay returns the token. `receipt` is the
    /// receipt in the relay's last answer, or zero; it proves that the member still receives at its address.
    case renewal(token: UInt64, receipt: UInt64 = 0)
    /// The relay's answer to a renewal.
    case renewed(token: UInt64, receipt: UInt64, Welcome.Terms)
    /// The member leaves.
    case leave
    /// The relay requests a `pathAnswer` with the same number from the address to which the member seems to have moved.
    case pathChallenge(UInt128)
    case pathAnswer(UInt128)
    /// The relay ends the session.
    case goodbye(Refusal.Reason)
    /// The relay refuses this SSRC, because another member has registered it.
    case ssrcRefused(SSRC)
    /// The relay reports its rate limits for this talker, in packets and bits per second, because it has dropped
    /// packets beyond these limits.
    case limited(packetsPerSecond: UInt32, bitsPerSecond: UInt32)
    /// A report. The value is the range of its RTCP in the datagram.
    case report(Range<Int>)
    /// The member subscribes to the roster, and sends its own info; nil if the member hides its info.
    case info(SealedMemberInfo?)
    /// The relay reports the members that have joined, left or changed. A record without entries reports the number of
    /// unlisted members and acknowledges the receiver's info.
    case roster(Roster.Head, [Roster.Entry])
    /// The member requests the entries of a part of the roster from `position` on. `receipt` is the receipt in the
    /// relay's last answer to a renewal.
    case rosterRequest(Roster.Part, position: UInt32, receipt: UInt64)
    /// The relay asks how the member receives the talkers of the channel.
    case hearingRequest(HearingRequest)
    /// The member states how it receives them.
    case hearing(HearingReport)
    /// The relay states to a talker how other members receive it.
    case hearingList(HearingList)
    /// One of the records with which the relay answers a roster request.
    case rosterPage(Roster.PageHead, [Roster.Entry])
    /// A message about who may talk (Protocol/10-floor.md).
    case floor(FloorMessage)
    /// The relay reports how many datagrams of the member it has not forwarded in this session, by reason.
    case refused(MediaRefusalCounts)
    /// A record of a managed channel, of the types 15 to 22 (Protocol/14-group-secrets.md). The value is the range of its
    /// content in the datagram: the type and the body, which `TenfourManagedChannel` parses.
    case managed(Range<Int>)

    private enum Code: UInt8 {
        case renewal = 1
        case renewed = 2
        case leave = 3
        case pathChallenge = 4
        case pathAnswer = 5
        case goodbye = 6
        case ssrcRefused = 7
        case report = 8
        case limited = 9
        case info = 10
        case roster = 11
        case rosterRequest = 12
        case rosterPage = 13
        case floor = 14
        case hearingRequest = 23
        case hearing = 24
        case refused = 25
        case hearingList = 26
    }

    /// The types of the records of a managed channel.
    static let managedTypes: ClosedRange<UInt8> = 15...22
    /// The maximum length of the RTCP in a report, in bytes.
    public static let maximumReportByteCount = 1232
    /// The maximum length of a record, in bytes: one byte for the type of record, and the longest report.
    static let maximumByteCount = 1 + maximumReportByteCount
    private static let rosterByteCount = 1 + Roster.Head.byteCount
    private static let rosterPageByteCount = 1 + Roster.PageHead.byteCount
    private static let maximumEntriesByteCount = Roster.maximumEntryCount * Roster.Entry.maximumByteCount

    /// Parses a decrypted record, which begins at byte `start` of its datagram.
    init(parsing body: Span<UInt8>, at start: Int) throws(ControlParseError) {
        guard body.count > 0 else { throw .length(0) }
        if Self.managedTypes.contains(body[0]) {
            self = .managed(start..<start + body.count)
            return
        }
        guard let code = Code(rawValue: body[0]) else { throw .kind(body[0]) }
        switch code {
        case .renewal:
            try body.require(17 + Welcome.Terms.byteCount)
            guard body.isZero(in: 17..<body.count) else { throw .value }
            self = .renewal(token: body.number(at: 1), receipt: body.number(at: 9))
        case .renewed:
            try body.require(17 + Welcome.Terms.byteCount)
            self = .renewed(
                token: body.number(at: 1), receipt: body.number(at: 9), try Welcome.Terms(parsing: body, at: 17))
        case .leave:
            try body.require(1)
            self = .leave
        case .pathChallenge, .pathAnswer:
            try body.require(17)
            self = code == .pathAnswer ? .pathAnswer(body.number(at: 1)) : .pathChallenge(body.number(at: 1))
        case .goodbye:
            try body.require(2)
            guard let reason = Refusal.Reason(rawValue: body[1]) else { throw .value }
            self = .goodbye(reason)
        case .ssrcRefused:
            try body.require(5)
            self = .ssrcRefused(SSRC(body.number(at: 1)))
        case .limited:
            try body.require(9)
            self = .limited(packetsPerSecond: body.number(at: 1), bitsPerSecond: body.number(at: 5))
        case .report:
            try body.require(9, to: Self.maximumByteCount)
            self = .report(start + 1..<start + body.count)
        case .info:
            try body.require(1 + SealedMemberInfo.byteCount)
            self = .info(body.isZero(in: 1..<body.count) ? nil : try SealedMemberInfo(parsing: body, at: 1))
        case .roster:
            let head = Self.rosterByteCount
            try body.require(head, to: head + Self.maximumEntriesByteCount)
            self = .roster(Roster.Head(parsing: body, at: 1), try Roster.Entry.all(parsing: body, from: head))
        case .rosterRequest:
            try body.require(14)
            guard let part = Roster.Part(rawValue: body[1]) else { throw .value }
            self = .rosterRequest(part, position: body.number(at: 2), receipt: body.number(at: 6))
        case .rosterPage:
            let head = Self.rosterPageByteCount
            try body.require(head, to: head + Self.maximumEntriesByteCount)
            self = .rosterPage(
                try Roster.PageHead(parsing: body, at: 1), try Roster.Entry.all(parsing: body, from: head))
        case .floor: self = .floor(try Self.floorMessage(in: body))
        case .refused: self = .refused(try MediaRefusalCounts(parsing: body, from: 1))
        case .hearingRequest, .hearing, .hearingList: self = try Self.hearing(code, body.extracting(1...))
        }
    }

    private static func floorMessage(in body: Span<UInt8>) throws(ControlParseError) -> FloorMessage {
        try body.require(1 + FloorMessage.byteCount)
        guard let message = try? FloorMessage(parsing: body.extracting(1...)) else { throw .value }
        return message
    }

    /// Parses the body of a record about who hears whom.
    private static func hearing(_ code: Code, _ body: Span<UInt8>) throws(ControlParseError) -> Record {
        let record: Record? =
            switch code {
            case .hearingRequest: HearingRequest(body).map { .hearingRequest($0) }
            case .hearing: HearingReport(body).map { .hearing($0) }
            default: HearingList(body).map { .hearingList($0) }
            }
        guard let record else { throw .value }
        return record
    }

    /// Appends the record. `content` is the RTCP of a report, or the content of a record of a managed channel, and empty for
    /// all other records.
    func write(content: Span<UInt8>, into body: inout OutputSpan<UInt8>) {
        guard let code else { return body.append(content) }
        body.append(code.rawValue)
        switch self {
        case .renewal(let token, let receipt):
            body.append(number: token)
            body.append(number: receipt)
            body.append(zeros: Welcome.Terms.byteCount)
        case .renewed(let token, let receipt, let terms):
            body.append(number: token)
            body.append(number: receipt)
            terms.write(into: &body)
        case .leave: break
        case .pathChallenge(let number), .pathAnswer(let number): body.append(number: number)
        case .goodbye(let reason): body.append(reason.rawValue)
        case .ssrcRefused(let ssrc): body.append(number: ssrc.rawValue)
        case .limited(let packets, let bits):
            body.append(number: packets)
            body.append(number: bits)
        case .report: body.append(content)
        case .info(let info):
            if let info { info.write(into: &body) } else { body.append(zeros: SealedMemberInfo.byteCount) }
        case .roster(let head, let entries):
            head.write(into: &body)
            body.append(entries)
        case .rosterRequest(let part, let position, let receipt):
            body.append(part.rawValue)
            body.append(number: position)
            body.append(number: receipt)
        case .rosterPage(let head, let entries):
            head.write(into: &body)
            body.append(entries)
        case .floor(let message): message.write(into: &body)
        case .refused(let counts): counts.write(into: &body)
        case .hearingRequest(let request): request.write(into: &body)
        case .hearing(let report): report.write(into: &body)
        case .hearingList(let list): list.write(into: &body)
        case .managed: break
        }
    }

    /// The type; nil for a record of a managed channel, whose content begins with it.
    private var code: Code? {
        switch self {
        case .renewal: .renewal
        case .renewed: .renewed
        case .leave: .leave
        case .pathChallenge: .pathChallenge
        case .pathAnswer: .pathAnswer
        case .goodbye: .goodbye
        case .ssrcRefused: .ssrcRefused
        case .limited: .limited
        case .report: .report
        case .info: .info
        case .roster: .roster
        case .rosterRequest: .rosterRequest
        case .rosterPage: .rosterPage
        case .floor: .floor
        case .refused: .refused
        case .hearingRequest: .hearingRequest
        case .hearing: .hearing
        case .hearingList: .hearingList
        case .managed: nil
        }
    }
}

extension Record {
    func requireNoContent() {
        switch self {
        case .report, .managed: preconditionFailure("the record is sealed with its bytes")
        default: break
        }
    }

    static func require(report: Span<UInt8>) {
        precondition((8...maximumReportByteCount).contains(report.count), "no RTCP, or more than a datagram holds")
    }

    static func require(managed content: Span<UInt8>) {
        precondition(
            (1...maximumByteCount).contains(content.count) && managedTypes.contains(content[0]),
            "no record of a managed channel, or more than a datagram holds")
    }
}

extension Span<UInt8> {
    fileprivate func require(_ byteCount: Int) throws(ControlParseError) {
        guard count == byteCount else { throw .length(count) }
    }

    fileprivate func require(_ least: Int, to most: Int) throws(ControlParseError) {
        guard count >= least, count <= most else { throw .length(count) }
    }
}

extension OutputSpan<UInt8> {
    @_lifetime(self: copy self)
    fileprivate mutating func append(_ entries: [Roster.Entry]) {
        precondition(entries.count <= Roster.maximumEntryCount, "more than a record holds")
        for entry in entries { entry.write(into: &self) }
    }
}
