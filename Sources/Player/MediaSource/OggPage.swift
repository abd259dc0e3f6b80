internal import COgg

/// The header of a page of an Ogg stream (RFC 3533 section 6). The C functions are `ogg_page_…`.
struct OggPage: Equatable {
    /// The offset of the page in the resource.
    var offset: Int
    /// The length of header and body, in bytes.
    var byteCount: Int
    var headerByteCount: Int
    /// Whether the page's first segment continues a packet.
    var isContinuing: Bool
    var isFirst: Bool
    var isLast: Bool
    /// The granule position; nil if no packet ends in the page or the value is implausible.
    var granule: Int?
    var serial: UInt32
    var sequence: UInt32
    /// The lengths of the segments, in bytes. A packet continues after a segment of 255 bytes.
    var segments: [UInt8]

    var end: Int { offset + byteCount }

    static let fixedByteCount = 27
    /// The largest plausible granule: 6000 years.
    static let lastGranule = 1 << 53
    /// The length of the longest page, in bytes: a header with 255 segment lengths, and 255 segments of 255 bytes.
    static let longest = 27 + 255 + 255 * 255

    /// Reads the header of a page that libogg has found at `offset`.
    init(_ page: ogg_page, at offset: Int) {
        self.offset = offset
        let (header, headerByteCount) = unsafe (page.header!, Int(page.header_len))
        byteCount = unsafe headerByteCount + Int(page.body_len)
        self.headerByteCount = headerByteCount
        var page = unsafe page
        isContinuing = unsafe ogg_page_continued(&page) != 0
        isFirst = unsafe ogg_page_bos(&page) != 0
        isLast = unsafe ogg_page_eos(&page) != 0
        let granule = unsafe ogg_page_granulepos(&page)
        self.granule = 0...Int64(Self.lastGranule) ~= granule ? Int(granule) : nil
        serial = unsafe UInt32(bitPattern: ogg_page_serialno(&page))
        sequence = unsafe UInt32(truncatingIfNeeded: ogg_page_pageno(&page))
        segments = (Self.fixedByteCount..<headerByteCount).map { unsafe header[$0] }
    }
}

/// Finds pages in a byte source and skips bytes between them. libogg checks each page's checksum. The C functions are
/// `ogg_sync_pageseek` and `ogg_sync_buffer`.
@safe
struct OggPages: ~Copyable {
    /// The last page. Its memory belongs to libogg, and is valid until the next call of `page(from:before:)`.
    private(set) var raw = unsafe ogg_page()

    private let sync = UnsafeMutablePointer<ogg_sync_state>.allocate(capacity: 1)
    private var window: ByteWindow
    /// The offset of the next byte that libogg examines.
    private var position = 0
    /// The offset of the next byte to pass to libogg.
    private var end = 0

    /// The number of bytes per call of `ogg_sync_buffer`.
    private static let stepByteCount = 4_096

    init(_ window: consuming ByteWindow) {
        self.window = window
        unsafe ogg_sync_init(sync)
    }

    deinit {
        unsafe ogg_sync_clear(sync)
        unsafe sync.deallocate()
    }

    var byteSource: any ByteSource { window.byteSource }

    /// The body of the last page.
    var body: Span<UInt8> {
        @_lifetime(borrow self)
        get {
            guard let start = unsafe raw.body else { return Span() }
            return unsafe _overrideLifetime(Span(_unsafeStart: start, count: Int(raw.body_len)), borrowing: self)
        }
    }

    /// Returns the first page that begins at `offset` or later, before `limit`; nil if there is none. Blocks until its
    /// bytes have arrived.
    mutating func page(from offset: Int, before limit: Int) throws(ByteSourceError) -> OggPage? {
        if offset != position {
            unsafe ogg_sync_reset(sync)
            (position, end) = (offset, offset)
        }
        while position < limit {
            let count = unsafe Int(ogg_sync_pageseek(sync, &raw))
            if count > 0 {
                defer { position += count }
                return unsafe OggPage(raw, at: position)
            }
            position -= count
            if count == 0, try !feed() { return nil }
        }
        return nil
    }

    /// Gives libogg the next bytes that have arrived. Returns false at the end.
    private mutating func feed() throws(ByteSourceError) -> Bool {
        try window.loadAvailable(at: end, limit: Self.stepByteCount, keepingFrom: position)
        let count = window.bytes.count
        guard count > 0, let target = unsafe ogg_sync_buffer(sync, count) else { return false }
        unsafe Self.copy(window.bytes, to: target)
        unsafe ogg_sync_wrote(sync, count)
        end += count
        return true
    }

    private static func copy(_ bytes: Span<UInt8>, to target: UnsafeMutablePointer<CChar>) {
        for index in bytes.indices { unsafe target[index] = CChar(bitPattern: bytes[index]) }
    }
}
