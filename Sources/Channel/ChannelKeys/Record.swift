public import TenfourPackets

/// What a session's two sides say to each other once they have keys.
public enum Record: Hashable, Sendable {
    /// The member stays; out of turn, it asks whether the relay is there. The token comes back. `receipt` is that of the last
    /// renewed, zero before there was one: the member still receives where it is.
    case renewal(token: UInt64, receipt: UInt64 = 0)
    case renewed(token: UInt64, receipt: UInt64, Welcome.Terms)
    case leave
    /// To an address that the member seems to have moved to.
    case pathChallenge(UInt128)
    case pathAnswer(UInt128)
    /// The relay ends the session.
    case goodbye(Refusal.Reason)
    /// Another member has claimed this SSRC.
    case ssrcRefused(SSRC)
    /// The member sends more than the relay takes of a talker in a second; what is beyond is lost.
    case limited(packetsPerSecond: UInt32, bitsPerSecond: UInt32)
    /// RTCP, in these bytes of the datagram.
    case report(Range<Int>)
    /// The member wants to be told who is there, and tells this about itself: nothing where it is nil.
    case info(SealedMemberInfo?)
    /// The relay tells who has joined, left or changed; without entries it tells the counts alone.
    case roster(Roster.Head, [Roster.Entry])
    /// The member asks for a part of who is there, from `position` on. `receipt` as in a renewal.
    case rosterRequest(Roster.Part, position: UInt32, receipt: UInt64)
    /// A piece of the answer.
    case rosterPage(Roster.PageHead, [Roster.Entry])

    enum What: UInt8 {
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
    }

    /// Inside, of a report.
    static let maximumByteCount = 1 + maximumReportByteCount
    public static let maximumReportByteCount = 1232
    static let renewalByteCount = 17 + Welcome.Terms.byteCount
    static let infoByteCount = 1 + SealedMemberInfo.byteCount
    /// Without entries.
    static let rosterByteCount = 1 + Roster.Head.byteCount
    static let rosterPageByteCount = 1 + Roster.PageHead.byteCount
    static let maximumEntriesByteCount = Roster.maximumEntryCount * Roster.Entry.maximumByteCount

    /// Reads what was opened, from `start` on in its datagram.
    init(parsing body: Span<UInt8>, at start: Int) throws(ControlParseError) {
        guard body.count > 0 else { throw .length(0) }
        guard let what = What(rawValue: body[0]) else { throw .kind(body[0]) }
        let lengths: ClosedRange<Int> =
            switch what {
            case .renewal, .renewed: Self.renewalByteCount...Self.renewalByteCount
            case .leave: 1...1
            case .pathChallenge, .pathAnswer: 17...17
            case .goodbye: 2...2
            case .ssrcRefused: 5...5
            case .report: 9...Self.maximumByteCount
            case .limited: 9...9
            case .info: Self.infoByteCount...Self.infoByteCount
            case .roster: Self.rosterByteCount...Self.rosterByteCount + Self.maximumEntriesByteCount
            case .rosterRequest: 14...14
            case .rosterPage: Self.rosterPageByteCount...Self.rosterPageByteCount + Self.maximumEntriesByteCount
            }
        guard lengths.contains(body.count) else { throw .length(body.count) }
        switch what {
        case .renewal:
            guard body.isZero(in: 17..<Self.renewalByteCount) else { throw .value }
            self = .renewal(token: body.number(at: 1), receipt: body.number(at: 9))
        case .renewed:
            self = .renewed(
                token: body.number(at: 1), receipt: body.number(at: 9), try Welcome.Terms(parsing: body, at: 17))
        case .leave: self = .leave
        case .pathChallenge: self = .pathChallenge(body.number(at: 1))
        case .pathAnswer: self = .pathAnswer(body.number(at: 1))
        case .goodbye:
            guard let reason = Refusal.Reason(rawValue: body[1]) else { throw .value }
            self = .goodbye(reason)
        case .ssrcRefused: self = .ssrcRefused(SSRC(body.number(at: 1)))
        case .limited: self = .limited(packetsPerSecond: body.number(at: 1), bitsPerSecond: body.number(at: 5))
        case .report: self = .report(start + 1..<start + body.count)
        case .info:
            let isEmpty = body.isZero(in: 1..<Self.infoByteCount)
            self = .info(isEmpty ? nil : try SealedMemberInfo(parsing: body, at: 1))
        case .roster:
            self = .roster(
                Roster.Head(parsing: body, at: 1), try Roster.Entry.all(parsing: body, from: Self.rosterByteCount))
        case .rosterRequest:
            guard let part = Roster.Part(rawValue: body[1]) else { throw .value }
            self = .rosterRequest(part, position: body.number(at: 2), receipt: body.number(at: 6))
        case .rosterPage:
            self = .rosterPage(
                try Roster.PageHead(parsing: body, at: 1),
                try Roster.Entry.all(parsing: body, from: Self.rosterPageByteCount))
        }
    }

    /// `report` is what a report holds.
    func write(report: Span<UInt8>, into body: inout OutputSpan<UInt8>) {
        switch self {
        case .renewal(let token, let receipt):
            body.append(What.renewal.rawValue)
            body.append(number: token)
            body.append(number: receipt)
            body.append(zeros: Welcome.Terms.byteCount)
        case .renewed(let token, let receipt, let terms):
            body.append(What.renewed.rawValue)
            body.append(number: token)
            body.append(number: receipt)
            terms.write(into: &body)
        case .leave: body.append(What.leave.rawValue)
        case .pathChallenge(let number):
            body.append(What.pathChallenge.rawValue)
            body.append(number: number)
        case .pathAnswer(let number):
            body.append(What.pathAnswer.rawValue)
            body.append(number: number)
        case .goodbye(let reason):
            body.append(What.goodbye.rawValue)
            body.append(reason.rawValue)
        case .ssrcRefused(let ssrc):
            body.append(What.ssrcRefused.rawValue)
            body.append(number: ssrc.rawValue)
        case .limited(let packets, let bits):
            body.append(What.limited.rawValue)
            body.append(number: packets)
            body.append(number: bits)
        case .report:
            body.append(What.report.rawValue)
            body.append(report)
        case .info(let info):
            body.append(What.info.rawValue)
            if let info { info.write(into: &body) } else { body.append(zeros: SealedMemberInfo.byteCount) }
        case .roster(let head, let entries):
            body.append(What.roster.rawValue)
            head.write(into: &body)
            body.append(entries)
        case .rosterRequest(let part, let position, let receipt):
            body.append(What.rosterRequest.rawValue)
            body.append(part.rawValue)
            body.append(number: position)
            body.append(number: receipt)
        case .rosterPage(let head, let entries):
            body.append(What.rosterPage.rawValue)
            head.write(into: &body)
            body.append(entries)
        }
    }
}

extension OutputSpan<UInt8> {
    @_lifetime(self: copy self)
    fileprivate mutating func append(_ entries: [Roster.Entry]) {
        precondition(entries.count <= Roster.maximumEntryCount, "more than a record holds")
        for entry in entries { entry.write(into: &self) }
    }
}

/// A record as it is sent: header, what is sealed, tag.
enum RecordFrame {
    static let openByteCount = 20
    static let byteCount = openByteCount + AEAD.tagByteCount

    /// Appends a record. `report` is what a report holds, otherwise empty.
    static func seal(
        _ record: Record, report: Span<UInt8>, session: UInt64, counter: UInt64, key: Span<UInt8>,
        into datagram: inout OutputSpan<UInt8>
    ) {
        withTemporaryBytes(Record.maximumByteCount) { body in
            record.write(report: report, into: &body)
            seal(inside: body.span, session: session, counter: counter, key: key, into: &datagram)
        }
    }

    static func seal(
        inside body: Span<UInt8>, session: UInt64, counter: UInt64, key: Span<UInt8>,
        into datagram: inout OutputSpan<UInt8>
    ) {
        var start = InlineArray<20, UInt8>(repeating: 0)
        fill(&start) {
            $0.append(header: .record)
            $0.append(number: session)
            $0.append(number: counter)
        }
        datagram.append(start.span)
        AEAD.seal(body, counter: counter, data: start.span, key: key, into: &datagram)
    }

    /// Opens a record where it is.
    static func open(
        _ datagram: inout MutableSpan<UInt8>, window: inout ReplayWindow, key: Span<UInt8>
    ) throws(RecordOpener.Failure) -> Record {
        guard datagram.count > byteCount, datagram.count <= ControlPacket.maximumByteCount else {
            throw .malformed(.length(datagram.count))
        }
        let counter: UInt64 = datagram.span.number(at: 12)
        guard counter > 0, window.accepts(counter) else { throw .replayed }
        var start = InlineArray<20, UInt8>(repeating: 0)
        for index in 0..<20 { start[index] = datagram[index] }
        var sealed = datagram._mutatingExtracting(openByteCount...)
        guard AEAD.open(&sealed, counter: counter, data: start.span, key: key) else { throw .forged }
        window.insert(counter)
        let body = datagram.span.extracting(openByteCount..<datagram.count - AEAD.tagByteCount)
        do {
            return try Record(parsing: body, at: openByteCount)
        } catch {
            throw .malformed(error)
        }
    }
}

/// Seals one way of a session's records.
public struct RecordSealer: Sendable {
    public let session: UInt64
    private let key: SecretBytes
    private var counter: UInt64 = 0

    init(session: UInt64, key: SecretBytes) {
        self.session = session
        self.key = key
    }

    /// Appends a record of anything but a report: 36 bytes and those inside.
    public mutating func seal(_ record: Record, into datagram: inout OutputSpan<UInt8>) {
        if case .report = record { preconditionFailure("a report is sealed with its bytes") }
        seal(record, report: Span(), into: &datagram)
    }

    /// Appends a record of RTCP, of 8 to 1232 bytes.
    public mutating func seal(report: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        precondition(
            (8...Record.maximumReportByteCount).contains(report.count), "no RTCP, or more than a datagram holds")
        seal(.report(0..<report.count), report: report, into: &datagram)
    }

    private mutating func seal(_ record: Record, report: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        counter += 1
        key.withBytes {
            RecordFrame.seal(
                record, report: report, session: session, counter: counter, key: $0, into: &datagram)
        }
    }

    /// What a rightful member that means ill may say: any bytes.
    package mutating func seal(inside body: Span<UInt8>, into datagram: inout OutputSpan<UInt8>) {
        counter += 1
        key.withBytes {
            RecordFrame.seal(inside: body, session: session, counter: counter, key: $0, into: &datagram)
        }
    }
}

/// Opens the other way's, each once.
public struct RecordOpener: Sendable {
    private let key: SecretBytes
    private var window = ReplayWindow()

    /// Why nothing was opened.
    public enum Failure: Error, Hashable, Sendable {
        /// Came before, or is too old to tell.
        case replayed
        /// Not sealed by the other side of this session, or changed on its way.
        case forged
        /// Sealed by the other side, and yet no record: its counter is spent.
        case malformed(ControlParseError)
    }

    init(key: SecretBytes) { self.key = key }

    /// Opens a record where it is; a report is then in clear in the range that it names.
    public mutating func open(_ datagram: inout MutableSpan<UInt8>) throws(Failure) -> Record {
        try key.withBytes { (key) throws(Failure) in
            try RecordFrame.open(&datagram, window: &window, key: key)
        }
    }
}

/// Room for bytes that are gone afterwards, without an allocation where the stack has it.
func withTemporaryBytes(_ count: Int, _ body: (inout OutputSpan<UInt8>) -> Void) {
    unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) { memory in
        var output = unsafe OutputSpan(buffer: memory, initializedCount: 0)
        body(&output)
        _ = unsafe output.finalize(for: memory)
    }
}
