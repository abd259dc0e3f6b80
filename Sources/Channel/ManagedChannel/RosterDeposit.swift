public import TenfourChannelKeys

/// ROSTER DEPOSIT: a part of a new roster that the owner gives to the relay. The parts may come in any order.
public struct RosterDeposit: Hashable, Sendable {
    public var version: UInt32
    /// The first four bytes of the roster's signature, which all parts of one roster have in common.
    public var signaturePrefix: UInt32
    public var part: Part

    public enum Part: Hashable, Sendable {
        case head(Head)
        /// Entries of the admission list; the number is the place of the first one.
        case admission(UInt16, [AdmissionList.Entry])
        /// An encrypted page of the roster, and its number.
        case page(UInt16, [UInt8])
    }

    public struct Head: Hashable, Sendable {
        public var roster: RosterHead
        public var rosterHash: Bytes32
        /// Whether the relay waits for a group secret of this roster version before the roster is in force.
        public var hasSecret: Bool
        public var admissionCount: UInt16
        public var pageCount: UInt16
        /// The version that the change follows from; 0 without a change.
        public var follows: UInt32
        /// The encrypted `RosterChange`; empty without a change.
        public var sealedChange: [UInt8]
    }

    static let maximumAdmissionCount = 63
    private static let commonByteCount = 9

    init(_ roster: RosterHead, _ part: Part) {
        version = roster.version
        signaturePrefix = UInt32(truncatingIfNeeded: roster.signature.firstHalf.firstHalf >> 96)
        self.part = part
    }

    /// The parts of a roster, the head first. `old` is the roster before it, from which members can follow by a change.
    package static func parts(
        of new: SignedRoster, after old: SignedRoster?, hasSecret: Bool, mediaRoot: MediaRoot
    ) -> [RosterDeposit] {
        let head = RosterHead(new)
        let cipher = RosterCipher(mediaRoot, head)
        let pages = cipher.pages(of: new.contents)
        let change = old.flatMap { old in
            RosterChange(from: old.contents, to: new.contents).flatMap { change in
                cipher.sealedChange(change.bytes.span, follows: old.version)
            }
        }
        let listed = new.admissionList.entries
        var parts: [Part] = [
            .head(
                Head(
                    roster: head, rosterHash: new.hash, hasSecret: hasSecret, admissionCount: UInt16(listed.count),
                    pageCount: UInt16(pages.count), follows: change == nil ? 0 : old?.version ?? 0,
                    sealedChange: change ?? []))
        ]
        for start in stride(from: 0, to: listed.count, by: maximumAdmissionCount) {
            parts.append(
                .admission(
                    UInt16(start), Array(listed[start..<min(start + maximumAdmissionCount, listed.count)])))
        }
        for (page, sealed) in pages.enumerated() { parts.append(.page(UInt16(page), sealed)) }
        return parts.map { RosterDeposit(head, $0) }
    }

    init(parsing body: Span<UInt8>) throws(ControlParseError) {
        guard body.count > Self.commonByteCount else { throw .length(body.count) }
        version = body.number(at: 1)
        signaturePrefix = body.number(at: 5)
        guard version > 0 else { throw .value }
        switch body[0] {
        case 0:
            let head = try Head(parsing: body, at: Self.commonByteCount)
            part = .head(head)
            guard self == RosterDeposit(head.roster, part) else { throw .value }
        case 1:
            let (entries, place) = try Self.admission(body)
            part = .admission(place, entries)
        case 2:
            let start = Self.commonByteCount + 2
            guard body.count > start + 16, body.count <= start + 16 + RosterCipher.pageByteCount else {
                throw .length(body.count)
            }
            let page: UInt16 = body.number(at: Self.commonByteCount)
            guard page < RosterCipher.maximumPageCount else { throw .value }
            part = .page(page, (start..<body.count).map { body[$0] })
        default: throw .value
        }
    }

    private static func admission(
        _ body: Span<UInt8>
    ) throws(ControlParseError) -> ([AdmissionList.Entry], UInt16) {
        let start = commonByteCount + 2
        let count = (body.count - start) / AdmissionList.entryByteCount
        guard (1...maximumAdmissionCount).contains(count),
            body.count == start + count * AdmissionList.entryByteCount
        else { throw .length(body.count) }
        let place: UInt16 = body.number(at: commonByteCount)
        guard Int(place) + count <= RosterContents.maximumEntryCount else { throw .value }
        var entries: [AdmissionList.Entry] = []
        for number in 0..<count {
            do throws(RosterError) {
                entries.append(
                    try AdmissionList.Entry(parsing: body, at: start + number * AdmissionList.entryByteCount))
            } catch { throw .value }
        }
        return (entries, place)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        let kind: UInt8 =
            switch part {
            case .head: 0
            case .admission: 1
            case .page: 2
            }
        bytes.append(kind)
        bytes.append(number: version)
        bytes.append(number: signaturePrefix)
        switch part {
        case .head(let head): head.write(into: &bytes)
        case .admission(let place, let entries):
            bytes.append(number: place)
            for entry in entries { entry.write(into: &bytes) }
        case .page(let page, let sealed):
            bytes.append(number: page)
            bytes.append(sealed.span)
        }
    }
}

extension RosterDeposit.Head {
    private static let byteCount = RosterHead.byteCount + 32 + 1 + 2 + 2 + 4

    fileprivate init(parsing body: Span<UInt8>, at offset: Int) throws(ControlParseError) {
        guard body.count >= offset + Self.byteCount else { throw .length(body.count) }
        roster = RosterHead(parsing: body, at: offset)
        rosterHash = Bytes32(body, at: offset + 72)
        guard body[offset + 104] <= 1 else { throw .value }
        hasSecret = body[offset + 104] == 1
        admissionCount = body.number(at: offset + 105)
        pageCount = body.number(at: offset + 107)
        follows = body.number(at: offset + 109)
        guard (1...RosterContents.maximumEntryCount).contains(Int(admissionCount)),
            (1...RosterCipher.maximumPageCount).contains(Int(pageCount)), follows < roster.version
        else { throw .value }
        sealedChange = (offset + Self.byteCount..<body.count).map { body[$0] }
        guard sealedChange.count <= RosterCipher.maximumChangeByteCount else { throw .length(body.count) }
        guard (follows == 0) == sealedChange.isEmpty else { throw .value }
    }

    fileprivate func write(into bytes: inout OutputSpan<UInt8>) {
        roster.write(into: &bytes)
        rosterHash.write(into: &bytes)
        bytes.append(hasSecret ? 1 : 0)
        bytes.append(number: admissionCount)
        bytes.append(number: pageCount)
        bytes.append(number: follows)
        bytes.append(sealedChange.span)
    }
}
