internal import OpusCodec
public import Sound

/// Reads what this room decodes itself: Opus in Ogg, and WAV.
public final class PacketReader: Reading {
    public let format: LPCMFormat
    /// Packets that no sound came of, since the beginning.
    public private(set) var damagedPacketCount = 0

    private let source: any PacketDecoding
    private var converter: LPCMConverter
    private var decoded: [Float]
    private var converted: [Float] = []
    private var given = 0
    private var start = Duration.zero
    private var givenFrames = FrameCount.zero
    /// In decoded frames: where the next sound is expected, and where that which is wanted begins.
    private var nextFrame: Int?
    private var firstWanted = 0
    private var hasEnded = false
    private var hasDecoded = false

    public var parser: any Parsing { source }

    /// Waits for the first sound.
    init(_ source: any PacketDecoding, format: LPCMFormat) throws(ReadError) {
        self.source = source
        self.format = format
        converter = try LPCMConverter(from: source.decodedFormat, to: format)
        let frames = OpusDecoder.maximumPacketDuration.rawValue
        decoded = [Float](repeating: 0, count: frames * source.decodedFormat.channelCount)
        _ = try refill()
    }

    public var position: Estimate<Duration> {
        Estimate(start + givenFrames.duration(at: format.rate), isExact: true)
    }

    public func read(into samples: inout MutableSpan<Float>) throws(ReadError) -> FrameCount {
        let wanted = samples.count - samples.count % format.channelCount
        var filled = 0
        while filled < wanted {
            if given == converted.count {
                guard try refill() else { break }
            }
            let count = min(wanted - filled, converted.count - given)
            for index in 0..<count { samples[filled + index] = converted[given + index] }
            given += count
            filled += count
        }
        let frames = FrameCount(filled / format.channelCount)
        givenFrames += frames
        return frames
    }

    public func seek(to position: Duration) throws(ReadError) -> Estimate<Duration> {
        let wanted = max(position, .zero)
        converter = try LPCMConverter(from: source.decodedFormat, to: format)
        converted.removeAll(keepingCapacity: true)
        (given, givenFrames, nextFrame, start) = (0, .zero, nil, wanted)
        firstWanted = FrameCount(wanted, at: source.decodedFormat.rate).rawValue
        hasEnded = true
        let landing: Estimate<Duration>
        do { landing = try source.seek(to: max(wanted - source.preroll, .zero)) } catch { throw .parse(error) }
        hasEnded = false
        start = max(wanted, landing.value)
        return self.position
    }

    /// Decodes and converts more; false at the end.
    private func refill() throws(ReadError) -> Bool {
        converted.removeAll(keepingCapacity: true)
        given = 0
        while converted.isEmpty, !hasEnded {
            let description: PacketDescription?
            do { description = try source.nextPacket() } catch { throw .parse(error) }
            if description != nil {
                decodePacket()
            } else {
                hasEnded = true
                converter.finish(into: &converted)
                if !hasDecoded, damagedPacketCount > 0 {
                    throw .undecodable("none of its \(damagedPacketCount) packets can be decoded: the file is damaged")
                }
            }
        }
        return !converted.isEmpty
    }

    private func decodePacket() {
        var room = decoded.mutableSpan
        guard let count = source.decode(into: &room) else {
            damagedPacketCount += 1
            return
        }
        hasDecoded = true
        let rate = source.decodedFormat.rate
        let sound = source.packetSound.clamped(to: 0..<count)
        let begin = source.packetStart + sound.lowerBound
        if let expected = nextFrame, expected > firstWanted {
            if begin != expected { start += FrameCount(begin - expected).duration(at: rate) }
        } else {
            start = FrameCount(max(begin, firstWanted)).duration(at: rate)
        }
        nextFrame = begin + sound.count
        let skipped = min(max(firstWanted - begin, 0), sound.count)
        let wanted = sound.lowerBound + skipped..<sound.upperBound
        let channels = source.decodedFormat.channelCount
        converter.convert(decoded, wanted.lowerBound * channels..<wanted.upperBound * channels, into: &converted)
    }
}
