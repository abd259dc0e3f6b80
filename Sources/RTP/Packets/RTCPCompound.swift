/// One RTCP packet, by its type. Packets of other types are skipped by their length, and can be counted.
public enum RTCPPacket: Hashable, Sendable {
    case senderReport(SenderReport)
    case receiverReport(ReceiverReport)
    case sourceDescription(SourceDescription)
    case goodbye(Goodbye)
    case genericNACK(GenericNACK)
    case extendedReport(ExtendedReport)
    case unknown(UnknownRTCPPacket)
}

/// A packet of a type this module does not read: other feedback (RFC 4585), APP, …
public struct UnknownRTCPPacket: Hashable, Sendable {
    public var type: UInt8
    /// The number in five bits of the header, 0…31: a count, or the format of a feedback message.
    public var count: Int
    /// The range of the content in the datagram, without the header of four bytes and without padding.
    public var body: Range<Int>
}

/// The RTCP packets in one datagram (RFC 3550 section 6.1), read one after the other.
///
///     var packets = try RTCPCompound(parsing: datagram)
///     while let packet = try packets.next() { … }
///
/// Borrows the datagram and copies out of it only the packet that `next` returns, so a stranger's datagram costs no
/// more than reading its headers.
public struct RTCPCompound: ~Escapable {
    private let datagram: Span<UInt8>
    private var position = 0

    /// Checks all headers as in RFC 3550 appendix A.2: the version, the sum of the lengths, padding in the last packet
    /// only, and a report first. If `allowsReducedSize` is true, the first packet may be of any type (RFC 5506).
    @_lifetime(copy datagram)
    public init(parsing datagram: Span<UInt8>, allowsReducedSize: Bool = false) throws(RTCPParseError) {
        self.datagram = datagram
        var position = 0
        repeat {
            let header = try RTCPHeader(parsing: datagram, at: position)
            if position == 0, !allowsReducedSize, header.type != RTCPHeader.senderReport,
                header.type != RTCPHeader.receiverReport
            {
                throw .noReportFirst(type: header.type)
            }
            position = header.end
        } while position < datagram.count
    }

    /// Returns the next packet, or nil after the last. Throws for a packet whose content does not fit its length; the
    /// next call returns the packet behind it.
    @_lifetime(self: copy self)
    public mutating func next() throws(RTCPParseError) -> RTCPPacket? {
        guard position < datagram.count else { return nil }
        let header = try RTCPHeader(parsing: datagram, at: position)
        position = header.end
        return switch header.type {
        case RTCPHeader.senderReport: .senderReport(try SenderReport(parsing: datagram, header))
        case RTCPHeader.receiverReport: .receiverReport(try ReceiverReport(parsing: datagram, header))
        case RTCPHeader.sourceDescription: .sourceDescription(try SourceDescription(parsing: datagram, header))
        case RTCPHeader.goodbye: .goodbye(try Goodbye(parsing: datagram, header))
        case RTCPHeader.transportFeedback where header.count == GenericNACK.format:
            .genericNACK(try GenericNACK(parsing: datagram, header))
        case RTCPHeader.extendedReport: .extendedReport(try ExtendedReport(parsing: datagram, header))
        default: header.unknown
        }
    }

    /// Returns the packets up to the end, and whether none of them was malformed. A malformed packet is skipped.
    @_lifetime(self: copy self)
    package mutating func rest() -> (packets: [RTCPPacket], isWhole: Bool) {
        var packets: [RTCPPacket] = []
        var isWhole = true
        while true {
            do throws(RTCPParseError) {
                guard let packet = try next() else { return (packets, isWhole) }
                packets.append(packet)
            } catch {
                isWhole = false
            }
        }
    }

    /// Whether a datagram is RTCP, on a port that RTP and RTCP share. The second byte of RTCP is 192…223 (RFC 5761
    /// section 4).
    public static func isRTCP(secondByte: UInt8) -> Bool { (192...223).contains(secondByte) }
}

/// The reason why a datagram, or a packet in it, is not RTCP.
public enum RTCPParseError: Error, Hashable, Sendable {
    /// A header, or the packet it announces, runs past the end of the datagram.
    case truncated(byteCount: Int)
    case unsupportedVersion(UInt8)
    /// The compound does not begin with a report (RFC 3550 section 6.1).
    case noReportFirst(type: UInt8)
    /// A packet other than the last has padding.
    case paddingInside(type: UInt8)
    /// The length of the padding is zero, not a multiple of four, or longer than the packet.
    case invalidPadding(byteCount: Int)
    /// The counts in the packet do not fit its length.
    case malformed(type: UInt8)
}

/// The first four bytes of each RTCP packet.
struct RTCPHeader {
    var type: UInt8
    /// The number in five bits of the header, 0…31: a count or a format.
    var count: Int
    /// The range of the packet in the datagram, without header and padding.
    var body: Range<Int>
    /// The offset of the next packet.
    var end: Int

    static let senderReport: UInt8 = 200
    static let receiverReport: UInt8 = 201
    static let sourceDescription: UInt8 = 202
    static let goodbye: UInt8 = 203
    static let transportFeedback: UInt8 = 205
    static let extendedReport: UInt8 = 207

    init(parsing datagram: Span<UInt8>, at start: Int) throws(RTCPParseError) {
        guard datagram.count - start >= 4 else { throw .truncated(byteCount: datagram.count) }
        let version = datagram[start] >> 6
        guard version == 2 else { throw .unsupportedVersion(version) }
        type = datagram[start + 1]
        count = Int(datagram[start] & 0x1F)
        end = start + 4 + 4 * Int(datagram.uint16(at: start + 2))
        guard end <= datagram.count else { throw .truncated(byteCount: datagram.count) }
        body = (start + 4)..<end
        if datagram[start] & 0x20 != 0 {
            guard end == datagram.count else { throw .paddingInside(type: type) }
            let padding = Int(datagram[end - 1])
            guard !body.isEmpty, padding > 0, padding % 4 == 0, padding <= body.count else {
                throw .invalidPadding(byteCount: padding)
            }
            body = body.lowerBound..<(end - padding)
        }
    }

    var unknown: RTCPPacket { .unknown(UnknownRTCPPacket(type: type, count: count, body: body)) }

    var tooShort: RTCPParseError { .malformed(type: type) }
}

extension OutputSpan<UInt8> {
    /// Appends the four bytes of the header of an RTCP packet. `count` is the number in the five bits of the first
    /// byte. `byteCount` is the length of the packet with its header, a multiple of four.
    @_lifetime(self: copy self)
    mutating func append(headerOf type: UInt8, count: Int, byteCount: Int) {
        append(0x80 | UInt8(count))
        append(type)
        append(bigEndian: UInt16(byteCount / 4 - 1))
    }
}
