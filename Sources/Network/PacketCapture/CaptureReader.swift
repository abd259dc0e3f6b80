// libpcap would replace 310 lines of this module, but it is not installed by default, and cannot read all captures. Its
// API has one link type for a whole file. So it refuses a pcapng file whose interfaces differ in link type or snapshot
// length ("an interface has a type 1 different from the type of the first interface"), for example a merged capture, or
// one of several interfaces.

public import TenfourAudioCore

/// Reads a capture packet by packet, in the order of the file: pcap in both byte orders, with micro- and nanoseconds,
/// and pcapng with any number of sections and interfaces.
///
/// Reading ends at the position where the file is truncated or damaged; `damage` holds the reason. No byte outside the
/// file is read: lengths in the file are checked against its size.
public struct CaptureReader {
    /// The reason why reading ended before the end of the file; nil if the whole file was read.
    public private(set) var damage: String?

    private var format: Format
    private var position: Int

    private enum Format {
        case pcap(PCAP)
        case pcapng(PCAPNG)
    }

    /// Reads the header of a whole file. Throws if it is not a capture.
    public init(_ bytes: Span<UInt8>) throws(CaptureError) {
        guard bytes.count >= 4 else { throw bytes.isEmpty ? .empty : .unknownFormat }
        if ByteOrder.bigEndian.uint32(bytes, at: 0) == PCAPNG.sectionHeader {
            (format, position) = (.pcapng(PCAPNG()), 0)
        } else {
            format = .pcap(try PCAP(bytes))
            position = PCAP.headerByteCount
        }
    }

    /// Returns the next packet, or nil at the end. `bytes` must be the bytes that were passed to `init`.
    public mutating func next(in bytes: Span<UInt8>) -> CapturedPacket? {
        guard damage == nil, position < bytes.count else { return nil }
        let step: CaptureStep
        switch format {
        case .pcap(let pcap):
            step = pcap.next(in: bytes, at: position)
        case .pcapng(var pcapng):
            step = pcapng.next(in: bytes, at: position)
            format = .pcapng(pcapng)
        }
        switch step {
        case .packet(let packet, let end):
            position = end
            return packet
        case .end:
            position = bytes.count
            return nil
        case .damage(let words):
            damage = words
            return nil
        }
    }
}

/// The result of looking for the next packet in a capture.
enum CaptureStep {
    case packet(CapturedPacket, end: Int)
    case end
    case damage(String)
}

/// A packet as an interface has captured it.
public struct CapturedPacket: Hashable, Sendable {
    /// The time of capture, since 1970.
    public var time: Instant
    /// The link-layer protocol, with which the packet begins.
    public var linkType: LinkType
    /// The range of the captured bytes in the file.
    public var bytes: Range<Int>
    /// The length of the packet on the wire, in bytes.
    public var originalByteCount: Int

    public init(time: Instant, linkType: LinkType, bytes: Range<Int>, originalByteCount: Int) {
        self.time = time
        self.linkType = linkType
        self.bytes = bytes
        self.originalByteCount = originalByteCount
    }
}

/// The link-layer header of a packet, by its number in the list of link types of tcpdump.org.
public struct LinkType: Hashable, Sendable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The loopback of BSD: four bytes with the address family, in the byte order of the capturing machine (`null`) or
    /// of the network (`loop`).
    static let null = LinkType(rawValue: 0)
    static let loop = LinkType(rawValue: 108)
    static let ethernet = LinkType(rawValue: 1)
    /// An IP packet without a link-layer header. OpenBSD and old captures use other numbers for it.
    static let rawIP = [LinkType(rawValue: 101), LinkType(rawValue: 12), LinkType(rawValue: 14)]
    static let ipv4 = LinkType(rawValue: 228)
    static let ipv6 = LinkType(rawValue: 229)
    /// The `any` device of Linux, in the old and the new format.
    static let linuxCooked = LinkType(rawValue: 113)
    static let linuxCooked2 = LinkType(rawValue: 276)
}

/// The reason why a file cannot be read as a capture.
public enum CaptureError: Error, Hashable, Sendable {
    case empty
    case unknownFormat
    /// The file ends within the header.
    case noHeader
    /// The major version of the format is not 2.
    case unknownVersion(UInt16)
}

extension CaptureError: CustomStringConvertible {
    /// A sentence without its subject. The caller puts the name of the file before it.
    public var description: String {
        switch self {
        case .empty: "is empty: nothing was captured"
        case .unknownFormat: "is neither pcap nor pcapng: write one with tcpdump -w or dumpcap"
        case .noHeader: "ends within the header of a capture: it was cut off before the first packet"
        case .unknownVersion(let number):
            "is a pcap of version \(number), which is not supported: capture again with tcpdump -w or dumpcap"
        }
    }
}
