internal import COgg
public import TenfourAudioCore

/// What the headers and the last page of an Ogg Opus file say, without its audio.
public struct OggOpusSummary: Equatable, Sendable {
    public private(set) var identification: OpusIdentificationHeader
    public private(set) var comments: OpusComments
    /// The number of the stream, which all its pages state.
    public private(set) var serial: UInt32
    /// The granule position at the end of the audio; nil before `readEnd`, or if the file has no audio.
    public private(set) var end: FrameCount?
    /// Whether the last page ends the stream. A file that was cut off has no such page.
    public private(set) var isComplete = false

    /// The number of bytes at the end of a file that always contain a whole page, if the file is whole.
    public static let longestPage = 27 + 255 + 255 * 255
    /// The largest plausible granule position: 6000 years.
    private static let lastGranule: Int64 = 1 << 53

    /// Reads the headers from the beginning of a file. Total: for any bytes it returns a summary or throws. The comment
    /// header must be complete.
    public init(parsing head: Span<UInt8>) throws(OggOpusError) {
        var pages = PageScanner(head)
        guard let first = pages.next(), first.isFirst else { throw .notOgg }
        identification = try OpusIdentificationHeader(parsing: first.body.span)
        serial = first.serial
        var packet: [UInt8] = []
        while let page = pages.next() {
            guard page.serial == serial else { continue }
            packet += page.firstPacket
            guard page.endsPacket else { continue }
            comments = try OpusComments(parsing: packet.span)
            return
        }
        throw .truncated
    }

    /// Finds the last whole page of the stream among the last bytes of the file. Any bytes are accepted.
    public mutating func readEnd(_ tail: Span<UInt8>) {
        var pages = PageScanner(tail)
        while let page = pages.next() {
            guard page.serial == serial, 0...Self.lastGranule ~= page.granule, !page.isFirst else { continue }
            (end, isComplete) = (FrameCount(Int(page.granule)), page.isLast)
        }
        if end == .zero { end = nil }
    }

    /// The duration of the audio that players play; nil if it is not known.
    public var duration: Duration? { end.map { max($0 - identification.preSkip, .zero).duration() } }
}

/// Finds the whole pages among bytes. libogg checks each page's checksum. The C functions are `ogg_sync_pageseek` and
/// `ogg_page_…`.
@safe private struct PageScanner: ~Copyable {
    private let sync = UnsafeMutablePointer<ogg_sync_state>.allocate(capacity: 1)

    struct Page {
        var isFirst: Bool
        var isLast: Bool
        var granule: Int64
        var serial: UInt32
        /// The lengths of the segments, in bytes. A packet continues after a segment of 255 bytes.
        var segments: [UInt8]
        var body: [UInt8]

        /// Whether a packet ends in the page.
        var endsPacket: Bool { segments.contains { $0 < 255 } }
        /// The bytes of the first packet that the page contains or continues.
        var firstPacket: ArraySlice<UInt8> {
            let end = segments.firstIndex { $0 < 255 } ?? segments.count - 1
            return body.prefix(segments.prefix(end + 1).reduce(0) { $0 + Int($1) })
        }
    }

    init(_ bytes: Span<UInt8>) {
        unsafe ogg_sync_init(sync)
        guard !bytes.isEmpty, let target = unsafe ogg_sync_buffer(sync, bytes.count) else { return }
        unsafe bytes.withUnsafeBytes {
            unsafe UnsafeMutableRawPointer(target).copyMemory(from: $0.baseAddress!, byteCount: $0.count)
        }
        unsafe ogg_sync_wrote(sync, bytes.count)
    }

    deinit {
        unsafe ogg_sync_clear(sync)
        unsafe sync.deallocate()
    }

    /// Returns the next page; nil if there is none.
    mutating func next() -> Page? {
        var raw = unsafe ogg_page()
        while true {
            let count = unsafe ogg_sync_pageseek(sync, &raw)
            if count == 0 { return nil }
            if count < 0 { continue }
            guard let header = unsafe raw.header else { return nil }
            let body = unsafe UnsafeBufferPointer(start: raw.body, count: Int(raw.body_len))
            return unsafe Page(
                isFirst: ogg_page_bos(&raw) != 0, isLast: ogg_page_eos(&raw) != 0, granule: ogg_page_granulepos(&raw),
                serial: UInt32(bitPattern: ogg_page_serialno(&raw)),
                segments: (27..<Int(raw.header_len)).map { unsafe header[$0] }, body: Array(body))
        }
    }
}
