internal import TenfourAudioCore

extension SessionDescription {
    /// The maximum length of a description, in bytes. A longer description is refused without being read.
    public static let maximumByteCount = 65_536
    /// The maximum number of formats of a stream. A stream with more formats is refused.
    public static let maximumFormatCount = 64

    /// Parses a description, and takes its first audio stream that can be played: one that has a port, an address and
    /// RTP, offers Opus or G.711, and states a key if it is encrypted. If there is none, throws the error of the first stream that cannot be read; if all
    /// can be read, takes the first of them. Total: for any bytes it returns a description, or throws the line and the
    /// reason.
    ///
    /// Lines end with LF, CR LF or CR. A byte order mark, empty lines, white space around a line and tabs in place of
    /// spaces are allowed, and `o=`, `s=` and `t=` may be missing. Lines that do not concern the stream are skipped.
    public init(parsing bytes: Span<UInt8>) throws(SDPError) {
        guard bytes.count <= Self.maximumByteCount else {
            throw SDPError(line: 1, .tooLarge(byteCount: bytes.count))
        }
        var reader = SDPReader()
        let hasByteOrderMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        var start = hasByteOrderMark ? 3 : 0
        while start < bytes.count {
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n"), bytes[end] != UInt8(ascii: "\r") { end += 1 }
            try reader.read(bytes.extracting(start..<end))
            let isPair =
                end + 1 < bytes.count && bytes[end] == UInt8(ascii: "\r") && bytes[end + 1] == UInt8(ascii: "\n")
            start = end + (isPair ? 2 : 1)
        }
        self = try reader.finish()
    }

    public init(parsing text: String) throws(SDPError) {
        let utf8 = text.utf8
        try self.init(parsing: utf8.span)
    }
}

/// Collects the values of a description, line by line.
private struct SDPReader {
    /// The number of the line that is read, counted from 1.
    private var line = 0
    private var hasBegun = false
    private var origin = SessionDescription.Origin.unknown
    private var name = ""
    private var session = SDPLevel()
    /// Whether the lines are above all `m=` lines.
    private var isInSession = true
    /// The audio stream whose lines are read; nil above the streams, and in a stream that is skipped.
    private var stream: SDPStream?
    /// The first stream that can be played.
    private var playable: SessionDescription?
    /// The first stream that can be read and not played: it offers no encoding that we play, or is encrypted without a key.
    private var unplayable: SessionDescription?
    /// The error in the first stream that cannot be read.
    private var failure: SDPError?
    /// The kinds of the other streams, such as `video`.
    private var otherKinds: [String] = []

    mutating func read(_ bytes: Span<UInt8>) throws(SDPError) {
        line += 1
        guard playable == nil else { return }
        let text = SDPLine.text(of: bytes)
        guard hasBegun else {
            if text.isEmpty { return }
            guard let first = SDPLine(text), first.type == "v", first.value == "0" else {
                throw error(.notADescription)
            }
            hasBegun = true
            return
        }
        guard let content = SDPLine(text) else { return }
        switch content.type {
        case "m": beginStream(content.value)
        case "o" where isInSession: try readOrigin(content.value)
        case "s" where isInSession: name = String(fromPeer: content.value)
        default:
            guard !isInSession else { return try session.read(content, line) }
            do throws(SDPError) { try stream?.read(content, line) } catch { refuseStream(error) }
        }
    }

    mutating func finish() throws(SDPError) -> SessionDescription {
        finishStream()
        guard hasBegun else { throw SDPError(line: max(line, 1), .notADescription) }
        if let playable { return playable }
        if let failure { throw failure }
        guard let unplayable else { throw error(.noAudio(others: otherKinds)) }
        return unplayable
    }

    private func error(_ reason: SDPError.Reason) -> SDPError { SDPError(line: line, reason) }

    /// Parses `o=alice 1 2 IN IP4 192.0.2.1`.
    private mutating func readOrigin(_ text: String) throws(SDPError) {
        let fields = text.fields(separator: " ")
        guard fields.count == 6, let sessionID = UInt64(fields[1]), let version = UInt64(fields[2]),
            let address = SessionDescription.Connection(parsing: fields[3...])
        else { throw error(.malformed("the origin (o=)")) }
        origin = .init(
            username: String(fromPeer: String(fields[0])), sessionID: sessionID, version: version, address: address)
    }

    // MARK: - Streams

    private mutating func beginStream(_ text: String) {
        finishStream()
        isInSession = false
        guard playable == nil else { return }
        let kind = text.fields(separator: " ").first?.lowercased() ?? ""
        guard kind == "audio" else {
            let shown = String(fromPeer: kind, limit: 20)
            if !shown.isEmpty, otherKinds.count < 3, !otherKinds.contains(shown) { otherKinds.append(shown) }
            return
        }
        do throws(SDPError) { stream = try SDPStream(text, line) } catch { refuseStream(error) }
    }

    private mutating func refuseStream(_ error: SDPError) {
        stream = nil
        failure = failure ?? error
    }

    private mutating func finishStream() {
        guard let stream else { return }
        self.stream = nil
        do throws(SDPError) {
            let description = try stream.description(origin, name, session)
            let hasItsKey = !description.profile.isSecure || !description.cryptos.isEmpty
            if hasItsKey, !description.payloadTypes.isEmpty {
                playable = description
            } else {
                unplayable = unplayable ?? description
            }
        } catch { refuseStream(error) }
    }
}
