internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourOggOpus
internal import TenfourOpusCodec

/// Encodes audio to an Ogg Opus file (RFC 7845), in packets of 20 ms and pages of at most a second.
///
/// For one thread at a time. Blocks on the disk or the pipe.
struct OggOpusFileWriter: ~Copyable, @unchecked Sendable {
    /// The tags of the file. Set them before the first `write`.
    var tags = AudioFileTags()

    private var file: WritableFile
    private var encoder: OpusEncoder
    private let channelCount: Int
    /// The samples of the packet that is being filled.
    private var frame: FixedBuffer<Float>
    private var filled = 0
    private var bytes: FixedBuffer<UInt8>
    private var muxer: OggOpusMuxer?
    private var packets: [OggOpusMuxer.Packet] = []
    /// The number of frames written, and the number encoded.
    private var written = 0
    private var encoded = 0
    private var isClosed = false

    private static let frameCount = 960
    /// The number of packets per page.
    private static let packetCount = 50
    /// The bit rate for each channel, in bit/s: few listeners hear a difference to the original.
    private static let bitRate = 64_000
    /// More than any packet of 20 ms at the bit rate.
    private static let packetByteCount = 1_276

    /// Opens the file at `path`. `format` is 48 kHz with one or two channels.
    init(path: String, format: LPCMFormat) throws(AudioFileError) {
        var settings = OpusEncoderSettings()
        settings.bitRate = Self.bitRate * format.channelCount
        settings.rateControl = .variable
        let encoder = try Self.makeEncoder(format, settings, for: path)
        let file = try WritableFile(path: path)
        self.encoder = encoder
        self.file = file
        channelCount = format.channelCount
        frame = FixedBuffer(repeating: 0, count: Self.frameCount * channelCount)
        bytes = FixedBuffer(repeating: 0, count: Self.packetByteCount)
    }

    private static func makeEncoder(
        _ format: LPCMFormat, _ settings: OpusEncoderSettings, for path: String
    ) throws(AudioFileError) -> OpusEncoder {
        do throws(OpusError) {
            return try OpusEncoder(format: format, application: .audio, settings: settings)
        } catch {
            throw AudioFileError(.isNotWritten(error.description), name: path)
        }
    }

    /// Writes whole frames.
    mutating func write(_ samples: Span<Float>) throws(AudioFileError) {
        if !file.hasBegun { try begin() }
        for index in samples.indices {
            frame[filled] = samples[index]
            filled += 1
            if filled == frame.count { try encode() }
        }
        written += samples.count / channelCount
    }

    /// Writes the rest, and closes the file. A second call does nothing.
    mutating func close() throws(AudioFileError) {
        guard !isClosed else { return }
        isClosed = true
        if file.hasBegun { try finish() }
        try file.close()
    }

    private mutating func begin() throws(AudioFileError) {
        try file.begin()
        let names = [("TITLE", tags.title), ("ARTIST", tags.artist), ("ALBUM", tags.album)]
        let comments = OpusComments(names.compactMap { name, value in value.map { OpusComments.Comment(name, $0) } })
        let muxer = OggOpusMuxer(
            serial: .random(in: .min ... .max),
            OpusIdentificationHeader(channelCount: channelCount, preSkip: encoder.lookAhead),
            comments: comments.bytes())
        try file.write(muxer.header.span)
        self.muxer = muxer
    }

    /// Encodes silence until the last frames have left the encoder, which delays them. The last page states where the
    /// audio ends.
    private mutating func finish() throws(AudioFileError) {
        let end = written + encoder.lookAhead.rawValue
        while encoded < end {
            for index in filled..<frame.count { frame[index] = 0 }
            try encode()
        }
        packets[packets.count - 1].end = FrameCount(end)
        try writePage(isLast: true)
    }

    private mutating func encode() throws(AudioFileError) {
        // The last packet is held back, since it must be known as the last one.
        if packets.count == Self.packetCount { try writePage(isLast: false) }
        filled = 0
        encoded += Self.frameCount
        let count: Int
        do throws(OpusError) {
            count = try Self.encode(frame, &encoder, into: &bytes)
        } catch {
            throw AudioFileError(.isNotWritten(error.description), name: file.name)
        }
        let payload = (0..<count).map { bytes[$0] }
        packets.append(OggOpusMuxer.Packet(payload: payload, end: FrameCount(encoded)))
    }

    private static func encode(
        _ frame: borrowing FixedBuffer<Float>, _ encoder: inout OpusEncoder, into bytes: inout FixedBuffer<UInt8>
    ) throws(OpusError) -> Int {
        var room = bytes.mutableSpan
        return try encoder.encode(frame.span, into: &room)
    }

    private mutating func writePage(isLast: Bool) throws(AudioFileError) {
        guard let muxer else { return }
        let page = muxer.append(packets, isLast: isLast)
        packets.removeAll(keepingCapacity: true)
        try file.write(page.span)
    }
}
