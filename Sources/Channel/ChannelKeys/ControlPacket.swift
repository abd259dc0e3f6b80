/// A parsed control datagram (Protocol/06-control.md). Nothing in it is authenticated yet.
public enum ControlPacket: Hashable, Sendable {
    case hello(nonce: UInt128)
    case cookie(Cookie, nonce: UInt128)
    /// A JOIN or a JOIN2.
    case join(Join)
    case welcome(Welcome)
    /// HELLO2, with the id of the channel whose owner hash the member wants to know.
    case hello2(nonce: UInt128, channelID: UInt128)
    case cookie2(Cookie2, nonce: UInt128)
    /// WELCOME2, the answer to a JOIN2. It is still sealed.
    case welcome2(nonce: UInt128)
    case refusal(Refusal)
    /// A record of the session with this id. The record is still encrypted; a `RecordOpener` decrypts it.
    case record(session: UInt64)
    case unknownSession(UInt64)
    case announcement(Announcement)
    /// An announcement with a hop tag, which a `HopTagChecker` checks.
    case taggedAnnouncement(Announcement)
    /// An announcement of a member of a managed channel. Its bytes behind the header are those of a `SignedAnnouncement` of
    /// `TenfourManagedChannel`.
    case signedAnnouncement(AnnouncedEpoch)
    /// A signed announcement with a hop tag.
    case taggedSignedAnnouncement(AnnouncedEpoch)

    enum Kind: UInt8 {
        case hello = 1
        case cookie = 2
        case join = 3
        case welcome = 4
        case refusal = 5
        case record = 6
        case unknownSession = 7
        case announcement = 8
        case hello2 = 9
        case cookie2 = 10
        case join2 = 11
        case welcome2 = 12
        case signedAnnouncement = 13
    }

    /// The first byte of every control datagram; RTP and RTCP packets begin with another byte.
    public static let firstByte = UInt8(ascii: "c")
    static let version: UInt8 = 1
    static let headerByteCount = 4
    static let helloByteCount = 128
    static let cookieByteCount = 40
    static let unknownSessionByteCount = 12
    static let announcementByteCount = headerByteCount + Announcement.byteCount
    /// The bytes of a signed announcement in its datagram.
    public static let signedAnnouncementRange = headerByteCount..<headerByteCount + signedAnnouncementByteCount
    /// The length of a signed announcement, without the header.
    private static let signedAnnouncementByteCount = 124
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
            case .hello2: Self.helloByteCount...Self.helloByteCount
            case .cookie2: Cookie2.datagramByteCount...Cookie2.datagramByteCount
            case .join2: Join.longestByteCount...Join.longestByteCount
            case .welcome2: Welcome2.byteCount...Welcome2.byteCount
            case .signedAnnouncement:
                Self.signedAnnouncementRange.upperBound...Self.signedAnnouncementRange.upperBound + HopTag.byteCount
            }
        guard lengths.contains(datagram.count) else { throw .length(datagram.count) }
        switch kind {
        case .hello:
            guard datagram.isZero(in: 20..<Self.helloByteCount) else { throw .value }
            self = .hello(nonce: datagram.number(at: 4))
        case .cookie: self = .cookie(Cookie(parsing: datagram, at: 20), nonce: datagram.number(at: 4))
        case .join, .join2: self = .join(try Join(parsing: datagram))
        case .welcome: self = .welcome(Welcome(parsing: datagram))
        case .refusal: self = .refusal(try Refusal(parsing: datagram))
        case .record: self = .record(session: datagram.number(at: 4))
        case .unknownSession: self = .unknownSession(datagram.number(at: 4))
        case .hello2:
            guard datagram.isZero(in: 36..<Self.helloByteCount) else { throw .value }
            self = .hello2(nonce: datagram.number(at: 4), channelID: datagram.number(at: 20))
        case .cookie2: self = .cookie2(Cookie2(parsing: datagram, at: 20), nonce: datagram.number(at: 4))
        case .welcome2: self = .welcome2(nonce: datagram.number(at: 4))
        case .announcement:
            let end = Self.announcementByteCount
            guard datagram.count == end || datagram.count == end + HopTag.byteCount else {
                throw .length(datagram.count)
            }
            let announcement = try Announcement(parsing: datagram.extracting(Self.headerByteCount..<end))
            self = datagram.count == end ? .announcement(announcement) : .taggedAnnouncement(announcement)
        case .signedAnnouncement:
            let range = Self.signedAnnouncementRange
            guard datagram.count == range.upperBound || datagram.count == range.upperBound + HopTag.byteCount else {
                throw .length(datagram.count)
            }
            let start = range.lowerBound
            let epoch = try AnnouncedEpoch(parsing: datagram.extracting(start..<start + AnnouncedEpoch.byteCount))
            let isTagged = datagram.count > range.upperBound
            self = isTagged ? .taggedSignedAnnouncement(epoch) : .signedAnnouncement(epoch)
        }
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
