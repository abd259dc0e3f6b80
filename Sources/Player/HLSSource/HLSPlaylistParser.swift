internal import TenfourAudioCore
internal import TenfourMediaSource

/// Builds a playlist from its lines.
struct HLSPlaylistParser {
    private let base: Resource
    private var master: HLSMasterPlaylist
    private var media: HLSMediaPlaylist
    private var isMaster = false
    private var isMedia = false

    // These values come from the tags so far, and belong to the next segment.
    private var duration: Duration?
    private var byteRange: (count: Int, offset: Int?)?
    /// The number of `EXT-X-DISCONTINUITY` so far.
    private var discontinuity = 0
    private var encryption: HLSEncryption?
    private var header: HLSHeader?
    private var date: Duration?
    private var isMissing = false
    /// The address and end of the segment before, where a byte range without an offset begins.
    private var before: (reference: String, end: Int)?

    /// The discontinuity sequence number of the first segment.
    private var firstDiscontinuity = 0

    /// The stream that the next line names.
    private var variant: HLSVariant?

    init(base: Resource) {
        self.base = base
        master = HLSMasterPlaylist(base: base)
        media = HLSMediaPlaylist(base: base)
    }

    /// Parses a line that is not empty. Unknown tags and tags with invalid values are ignored.
    mutating func parse(_ line: String) throws(HLSPlaylistError) {
        guard line.hasPrefix("#") else { return try parse(reference: line) }
        let colon = line.firstIndex(of: ":")
        let value = colon.map { line[line.index(after: $0)...] } ?? ""
        switch line[..<(colon ?? line.endIndex)] {
        case "#EXTINF":
            isMedia = true
            duration = HLSNumber.duration(value.prefix { $0 != "," && $0 != " " }) ?? .zero
        case "#EXT-X-BYTERANGE": byteRange = HLSNumber.byteRange(value)
        case "#EXT-X-DISCONTINUITY": discontinuity += 1
        case "#EXT-X-KEY": encryption = try parseEncryption(HLSAttributes(parsing: value))
        case "#EXT-X-MAP": header = try parseHeader(HLSAttributes(parsing: value))
        case "#EXT-X-PROGRAM-DATE-TIME": date = HLSNumber.date(value)
        case "#EXT-X-GAP": isMissing = true
        case "#EXT-X-TARGETDURATION":
            isMedia = true
            // Accepts a fraction, as some packagers write it.
            media.targetDuration = HLSNumber.duration(value) ?? .zero
        case "#EXT-X-MEDIA-SEQUENCE":
            isMedia = true
            media.firstNumber = HLSNumber.integer(value) ?? 0
        case "#EXT-X-DISCONTINUITY-SEQUENCE":
            firstDiscontinuity = HLSNumber.integer(value) ?? 0
        case "#EXT-X-ENDLIST":
            isMedia = true
            media.isEnded = true
        case "#EXT-X-PLAYLIST-TYPE": if value == "VOD" { media.isEnded = true }
        case "#EXT-X-START":
            let start = parseStart(HLSAttributes(parsing: value))
            (media.start, master.start) = (start, start)
        case "#EXT-X-I-FRAMES-ONLY": throw .onlyPictures
        case "#EXT-X-STREAM-INF":
            isMaster = true
            variant = HLSVariant(HLSAttributes(parsing: value))
        case "#EXT-X-MEDIA":
            isMaster = true
            try parseRendition(HLSAttributes(parsing: value))
        default: break
        }
    }

    /// Returns the playlist. Call it after the last line.
    func result() throws(HLSPlaylistError) -> HLSPlaylist {
        if isMaster {
            guard !isMedia else { throw .nested }
            guard !master.variants.isEmpty || !master.renditions.isEmpty else { throw .empty }
            return .master(master)
        }
        guard isMedia else { throw .noPlaylist }
        var media = media
        // Replaces a target duration that is missing or too small by the longest duration.
        let longest = media.segments.reduce(Duration.zero) { max($0, $1.duration) }
        media.targetDuration = max(media.targetDuration, longest)
        return .media(media)
    }

    private mutating func parse(reference: String) throws(HLSPlaylistError) {
        try check(reference)
        if let variant {
            self.variant = nil
            guard master.variants.count < HLSPlaylist.maximumStreamCount else { return }
            var named = variant
            named.reference = reference
            master.variants.append(named)
            return
        }
        // Leaves out a line without `EXTINF`, which every segment must have.
        guard let duration else { return }
        guard media.segments.count < HLSPlaylist.maximumSegmentCount else { throw .tooLong }
        var range: Range<Int>?
        if let byteRange {
            let end = before?.reference == reference ? before?.end ?? 0 : 0
            let start = min(byteRange.offset ?? end, HLSNumber.largest)
            range = start..<start + byteRange.count
            before = (reference, start + byteRange.count)
        } else {
            before = nil
        }
        media.segments.append(
            HLSSegment(
                reference: reference, duration: duration, byteRange: range,
                discontinuity: firstDiscontinuity + discontinuity,
                encryption: encryption, header: header, date: date, isMissing: isMissing))
        (self.duration, byteRange, date, isMissing) = (nil, nil, nil, false)
    }

    private func parseEncryption(_ attributes: HLSAttributes) throws(HLSPlaylistError) -> HLSEncryption? {
        let method = attributes["METHOD"] ?? ""
        if method == "NONE" { return nil }
        let format = attributes["KEYFORMAT"] ?? "identity"
        guard method == "AES-128", format == "identity" else {
            throw .encrypted(String(fromPeer: method == "AES-128" ? format : method, limit: 60))
        }
        guard let reference = attributes["URI"] else { throw .encrypted("AES-128 without a key") }
        try check(reference)
        let vector = attributes.bytes16("IV")
        if attributes["IV"] != nil, vector == nil { throw .encrypted("AES-128 with an invalid IV") }
        return HLSEncryption(keyReference: reference, initializationVector: vector)
    }

    private func parseStart(_ attributes: HLSAttributes) -> HLSStart? {
        guard let text = attributes["TIME-OFFSET"] else { return nil }
        let isNegative = text.hasPrefix("-")
        guard let offset = HLSNumber.seconds(text.dropFirst(isNegative ? 1 : 0)) else { return nil }
        return HLSStart(offset: isNegative ? .zero - offset : offset, isPrecise: attributes["PRECISE"] == "YES")
    }

    private func parseHeader(_ attributes: HLSAttributes) throws(HLSPlaylistError) -> HLSHeader? {
        guard let reference = attributes["URI"] else { return nil }
        try check(reference)
        let range = attributes["BYTERANGE"].flatMap { HLSNumber.byteRange($0) }
        return HLSHeader(
            reference: reference, byteRange: range.map { ($0.offset ?? 0)..<($0.offset ?? 0) + $0.count },
            encryption: encryption)
    }

    private mutating func parseRendition(_ attributes: HLSAttributes) throws(HLSPlaylistError) {
        guard attributes["TYPE"] == "AUDIO", let reference = attributes["URI"], let group = attributes["GROUP-ID"],
            master.renditions.count < HLSPlaylist.maximumStreamCount
        else { return }
        try check(reference)
        master.renditions.append(
            HLSRendition(
                reference: reference, group: group, name: attributes["NAME"].map { String(fromPeer: $0) },
                isDefault: attributes["DEFAULT"] == "YES", isAutomatic: attributes["AUTOSELECT"] == "YES"))
    }

    /// Refuses an address that is too long, or whose scheme is neither http nor https; `file` is accepted in a local
    /// playlist.
    private func check(_ reference: String) throws(HLSPlaylistError) {
        guard reference.utf8.count <= Resource.maximumByteCount else {
            throw .refused(
                "an address in the HLS playlist is longer than \(Resource.maximumByteCount) bytes; ask its operator")
        }
        guard let colon = reference.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
        let scheme = reference[..<colon]
        guard let first = scheme.utf8.first, isLetter(first),
            scheme.utf8.allSatisfy({ isLetter($0) || (48...57).contains($0) || [43, 45, 46].contains($0) })
        else { return }
        switch scheme.lowercased() {
        case "http", "https": return
        case "file":
            guard case .http = base else { return }
            throw .refused(
                "the HLS playlist from the network names a local file, which is not opened; ask its operator")
        case let other:
            throw .refused(
                "the HLS playlist names an address of '\(String(fromPeer: other, limit: 40)):'; only http and https are opened; ask its operator"
            )
        }
    }

    private func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte) || (97...122).contains(byte) }
}
