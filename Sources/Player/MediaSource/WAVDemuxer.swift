public import TenfourAudioCore

/// Demuxes WAV into packets of 256 frames. Every position is exact.
public final class WAVDemuxer: PacketDecoding, MissingAudioReporting {
    public let track: Track

    public let decodedFormat: LPCMFormat
    public private(set) var packetStart = 0
    public private(set) var audibleFrames = 0..<0
    public let preroll = Duration.zero

    private var wav: WAVStream
    private let coding: WAVStream.Coding
    private var window: ByteWindow
    private var nextFrame = 0
    private var measured: Int?
    var missing = MissingAudio()
    /// The size of the file when it was opened, in bytes; nil if it has no end. A file that has grown is not complete yet.
    private let openedByteCount: Int?

    /// The number of frames per packet.
    private static let frameCount = 256

    init(_ given: consuming ByteWindow) throws(ReaderError) {
        var window = given
        do { wav = try WAVStream(&window) } catch { throw .demuxer(error) }
        openedByteCount = window.byteSource.hasEnd ? window.byteSource.state.byteCount : nil
        self.window = window
        guard let coding = wav.coding else {
            throw .undecodable("the codec of this WAV file is not supported: convert it to 16-bit PCM")
        }
        self.coding = coding
        decodedFormat = LPCMFormat(rate: SampleRate(hertz: wav.rate), channelCount: wav.channelCount)
        track = Track(codec: "pcm", format: decodedFormat, title: wav.title, artist: wav.artist, album: wav.album)
    }

    public var sampleWidth: SampleWidth? {
        switch coding {
        case .unsigned8: .integer(bitCount: 8)
        case .signed16: .integer(bitCount: 16)
        case .signed24: .integer(bitCount: 24)
        case .signed32: .integer(bitCount: 32)
        case .float32, .float64: .floatingPoint
        }
    }

    public var duration: Estimate<Duration>? {
        let frames = measured ?? byteCount.map { $0 / wav.frameByteCount }
        return frames.map { Estimate(FrameCount($0).duration(at: decodedFormat.rate), isExact: true) }
    }

    public var bitRate: Int? { wav.rate * wav.frameByteCount * 8 }
    public var isBitRateExact: Bool { true }

    private var byteCount: Int? { wav.byteCount(in: window.byteSource) }

    /// The number of frames that have not been returned yet; `.max` if the end is unknown.
    private var left: Int { byteCount.map { $0 / wav.frameByteCount - nextFrame } ?? .max }

    public func nextPacket() throws(DemuxerError) -> PacketDescription? {
        let size = wav.frameByteCount
        var left = left
        if left <= 0 {
            var hasMore = wav.rereadSize(in: window.byteSource)
            if !hasMore, hasGrown { hasMore = try wav.includeSurplus(&window) }
            if hasMore { left = self.left }
        }
        guard left > 0 else {
            try findEnd()
            return nil
        }
        let offset = wav.begin + nextFrame * size
        do { try window.load(at: offset, count: min(Self.frameCount, left) * size) } catch { throw .byteSource(error) }
        let count = window.bytes.count / size
        guard count > 0 else {
            measured = nextFrame
            try findEnd()
            return nil
        }
        (packetStart, audibleFrames) = (nextFrame, 0..<count)
        nextFrame += count
        return PacketDescription(offset: offset, byteCount: count * size, frameCount: FrameCount(count))
    }

    /// Whether a program has appended to the file since it was opened.
    private var hasGrown: Bool {
        guard let openedByteCount, let byteCount = window.byteSource.state.byteCount else { return false }
        return byteCount > openedByteCount
    }

    /// Records the samples that the header states and the file lacks, and the bytes after them that are no chunk.
    private func findEnd() throws(DemuxerError) {
        guard openedByteCount != nil, !hasGrown else { return }
        try wav.findEnd(
            &window, at: FrameCount(nextFrame).duration(at: decodedFormat.rate),
            after: nextFrame * wav.frameByteCount, in: &missing)
    }

    public func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration> {
        let state = window.byteSource.state
        guard state.isSeekable || state.isRepeatable else { throw .notSeekable }
        let frame = FrameCount(max(position, .zero), at: decodedFormat.rate).rawValue
        missing = MissingAudio()
        nextFrame = min(frame, byteCount.map { $0 / wav.frameByteCount } ?? 1 << 48)
        return Estimate(FrameCount(nextFrame).duration(at: decodedFormat.rate), isExact: true)
    }

    public func decode(into samples: inout MutableSpan<Float>) -> Int? {
        Self.decode(window.bytes, coding, count: audibleFrames.count * wav.channelCount, into: &samples)
        return audibleFrames.count
    }

    private static func decode(
        _ bytes: Span<UInt8>, _ coding: WAVStream.Coding, count: Int, into samples: inout MutableSpan<Float>
    ) {
        switch coding {
        case .unsigned8: for index in 0..<count { samples[index] = (Float(bytes[index]) - 128) / 128 }
        case .signed16:
            for index in 0..<count {
                samples[index] = Float(Int16(bitPattern: bytes.littleEndian16(at: 2 * index))) / 32_768
            }
        case .signed24:
            for index in 0..<count {
                let high = Int32(Int8(bitPattern: bytes[3 * index + 2])) << 16
                samples[index] = Float(high | Int32(bytes.littleEndian16(at: 3 * index))) / 8_388_608
            }
        case .signed32:
            for index in 0..<count {
                samples[index] = Float(Int32(bitPattern: bytes.littleEndian32(at: 4 * index))) / 2_147_483_648
            }
        case .float32:
            for index in 0..<count { samples[index] = finite(Float(bitPattern: bytes.littleEndian32(at: 4 * index))) }
        case .float64:
            for index in 0..<count {
                samples[index] = finite(Float(Double(bitPattern: bytes.littleEndian64(at: 8 * index))))
            }
        }
    }

    /// Replaces NaN and infinity by 0, since they would stay in every filter that follows.
    private static func finite(_ sample: Float) -> Float { sample.isFinite ? sample : 0 }
}
