/// A parsed control datagram (Protocol/06-control.md). Nothing in it is authenticated yet.
public enum ControlPacket: Hashable, Sendable {
    case hello(nonce: UInt128)
    case cookie(Cookie, nonce: UInt128)
    case join(Join)
    case welcome(Welcome)
    case refusal(Refusal)
    /// A record of the session with this id. The record is still encrypted; a `RecordOpener` decrypts it.
    case record(session: UInt64)
    case unknownSession(UInt64)
    case announcement(Announcement)
    /// An announcement with a hop tag, which a `HopTagChecker` checks.
    case taggedAnnouncement(Announcement)

    enum Kind: UInt8 {
        case hello = 1
        case cookie = 2
        case join = 3
        case welcome = 4
        case refusal = 5
        case record = 6
        case unknownSession = 7
        case announcement = 8
    }

    /// The first byte of every control datagram; RTP and RTCP packets begin with another byte.
    public static let firstByte = UInt8(ascii: "c")
    static let version: UInt8 = 1
    static let headerByteCount = 4
    static let helloByteCount = 128
    static let cookieByteCount = 40
    static let unknownSessionByteCount = 12
    static let announcementByteCount = headerByteCount + Announcement.byteCount
    /// The length of the longest control datagram, which is a record.
    public static let maximumByteCount = Record.maximumByteCount + RecordFrame.byteCount

    /// Parses a datagram. Accepts any bytes; throws the reason if the bytes are not a control packet.
    public init(parsing datagram: Span<UInt8>) throws(ControlParseError) {
        guard datagram.count >= Self.headerByteCount else { throw .length(datagram.count) }
        guard datagram[0] == Self.firstByte else { throw .notControl }
        guard datagram[1] == Self.version else { throw .version(datagram[1]) }
        guard let kind = Kind(rawValue: datagram[2]) else { throw .kind(datagram[2]) }
        guard datagram[3] == 0 else { throw .value }
        let lengths: ClosedRange<Int> =
            switch kind {
            case .hello: Self.helloByteCount...Self.helloByteCount
            case .cookie: Self.cookieByteCount...Self.cookieByteCount
            case .join: Join.byteCount...Join.byteCount
            case .welcome: Welcome.byteCount...Welcome.byteCount
            case .refusal: Refusal.byteCount...Refusal.byteCount
            case .record: RecordFrame.byteCount + 1...Self.maximumByteCount
            case .unknownSession: Self.unknownSessionByteCount...Self.unknownSessionByteCount
            case .announcement: Self.announcementByteCount...Self.announcementByteCount + HopTag.byteCount
            }
        guard lengths.contains(datagram.count) else { throw .length(datagram.count) }
        switch kind {
        case .hello:
            guard datagram.isZero(in: 20..<Self.helloByteCount) else { throw .value }
            self = .hello(nonce: datagram.number(at: 4))
        case .cookie: self = .cookie(Cookie(parsing: datagram, at: 20), nonce: datagram.number(at: 4))
        case .join: self = .join(try Join(parsing: datagram))
        case .welcome: self = .welcome(Welcome(parsing: datagram))
        case .refusal: self = .refusal(try Refusal(parsing: datagram))
        case .record: self = .record(session: datagram.number(at: 4))
        case .unknownSession: self = .unknownSession(datagram.number(at: 4))
        case .announcement:
            let end = Self.announcementByteCount
            guard datagram.count == end || datagram.count == end + HopTag.byteCount else {
                throw .length(datagram.count)
            }
            let announcement = try Announcement(parsing: datagram.extracting(Self.headerByteCount..<end))
            self = datagram.count == end ? .announcement(announcement) : .taggedAnnouncement(announcement)
        }
    }

    /// Appends the 128 bytes of a HELLO.
    public static func writeHello(nonce: UInt128, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .hello)
        datagram.append(number: nonce)
        datagram.append(zeros: helloByteCount - 20)
    }

    /// Appends the 40 bytes of a COOKIE.
    public static func writeCookie(_ cookie: Cookie, nonce: UInt128, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .cookie)
        datagram.append(number: nonce)
        cookie.write(into: &datagram)
    }

    /// Appends the 12 bytes of an UNKNOWN SESSION.
    public static func writeUnknownSession(_ session: UInt64, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .unknownSession)
        datagram.append(number: session)
    }

    /// Appends the 56 bytes of an ANNOUNCEMENT.
    public static func write(_ announcement: Announcement, into datagram: inout OutputSpan<UInt8>) {
        datagram.append(header: .announcement)
        announcement.write(into: &datagram)
    }
}

/// The reason why a datagram is not a control packet, or why the content of a record is invalid.
public enum ControlParseError: Error, Hashable, Sendable {
    /// The first byte is not the first byte of control datagrams.
    case notControl
    case version(UInt8)
    case kind(UInt8)
    /// The length of the packet or record, in bytes, is not valid for its kind.
    case length(Int)
    /// A field has a value that this version of the protocol does not allow.
    case value
}

extension OutputSpan<UInt8> {
    @_lifetime(self: copy self)
    mutating func append(header kind: ControlPacket.Kind) {
        append(ControlPacket.firstByte)
        append(ControlPacket.version)
        append(kind.rawValue)
        append(0)
    }
}
