public import TenfourAudioCore
internal import TenfourOpusCodec

/// Reads what a demuxer decodes itself, such as Ogg Opus, WAV, and formats of a program's own.
public final class PacketReader: MediaReader {
    public let format: LPCMFormat
    /// The number of packets that could not be decoded, since the start.
    public private(set) var damagedPacketCount = 0

    private let source: any PacketDecoding
    private var converter: LPCMConverter
    private var decoded: [Float]
    private let converted: ConvertedAudio
    private var hasEnded = false
    private var hasDecoded = false
    /// The error that is thrown when the audio before it has been read.
    private var failure: ReaderError?

    public var demuxer: any Demuxer { source }

    /// Creates a reader. `format` is the format of its samples; nil: the decoded format. Blocks until the first audio is
    /// decoded.
    public init(_ source: any PacketDecoding, format: LPCMFormat?) throws(ReaderError) {
        let format = format ?? source.decodedFormat
        self.source = source
        self.format = format
        converted = ConvertedAudio(format)
        converter = try LPCMConverter(from: source.decodedFormat, to: format)
        let frames = OpusDecoder.maximumPacketDuration.rawValue
        decoded = [Float](repeating: 0, count: frames * source.decodedFormat.channelCount)
        _ = try refill()
    }

    public var sampleWidth: SampleWidth? { source.sampleWidth }

    public var position: Estimate<Duration> { Estimate(converted.position, isExact: true) }

    public func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
        try converted.read(into: &samples) { () throws(ReaderError) in try refill() }
    }

    public func seek(to position: Duration) throws(ReaderError) -> Estimate<Duration> {
        let fresh = try LPCMConverter(from: source.decodedFormat, to: format)
        try converted.seek(to: position, in: source, preroll: source.preroll, at: source.decodedFormat.rate)
        converter = fresh
        (hasEnded, failure) = (false, nil)
        return self.position
    }

    /// Decodes and converts the next packet. Returns false at the end.
    private func refill() throws(ReaderError) -> Bool {
        while converted.samples.isEmpty, !hasEnded {
            let description: PacketDescription?
            do { description = try source.nextPacket() } catch { throw .demuxer(error) }
            if description != nil {
                decodePacket()
            } else {
                hasEnded = true
                converter.finish(into: &converted.samples)
                if !hasDecoded, damagedPacketCount > 0 {
                    throw .undecodable(
                        "none of its \(damagedPacketCount) packets can be decoded, since the file is damaged: download it again",
                        kind: .damaged)
                }
                if hasDecoded, let text = (source as? any MissingAudioReporting)?.missing.text {
                    // The converter may still have returned the end.
                    guard converted.samples.isEmpty else {
                        failure = .undecodable(text, kind: .damaged)
                        return true
                    }
                    throw .undecodable(text, kind: .damaged)
                }
            }
        }
        if converted.samples.isEmpty, let failure {
            self.failure = nil
            throw failure
        }
        return !converted.samples.isEmpty
    }

    private func decodePacket() {
        var room = decoded.mutableSpan
        // Does not trust the count of a program's own decoder.
        guard let count = source.decode(into: &room), 0...decoded.count / source.decodedFormat.channelCount ~= count
        else {
            damagedPacketCount += 1
            let rate = source.decodedFormat.rate
            (source as? any MissingAudioReporting)?.missing.addHole(
                at: FrameCount(max(source.packetStart, 0)).duration(at: rate),
                lasting: FrameCount(source.audibleFrames.count).duration(at: rate))
            return
        }
        hasDecoded = true
        let audible = source.audibleFrames.clamped(to: 0..<count)
        let skipped = converted.place(
            source.packetStart + audible.lowerBound, audible.count, at: source.decodedFormat.rate)
        let requested = min(audible.lowerBound + skipped, audible.upperBound)..<audible.upperBound
        let channels = source.decodedFormat.channelCount
        converter.convert(
            decoded, requested.lowerBound * channels..<requested.upperBound * channels, into: &converted.samples)
    }
}
