internal import OpusCodec
internal import Playout
internal import RTP
internal import Resampling
internal import Sound

/// One talker's way from packets to sound: the lane decides, and this performs with a decoder and a resampler.
///
/// Playback thread. Nothing is allocated after `init`.
struct Voice: ~Copyable, Sendable {
    private(set) var ssrc: SSRC?
    private(set) var lane: PlayoutLane
    /// The mean square of what was pulled last, for the level.
    private(set) var meanSquare: Float = 0

    private let channelCount: Int
    private var decoder: OpusDecoder
    private var converter: RateConverter
    /// Decoded and not yet played, at 48 000 Hz: from `start`, `count` frames.
    private var decoded: Preallocated<Float>
    private var start = 0
    private var count = 0

    /// `format` is the card's.
    init(format: LPCMFormat, configuration: PlayoutConfiguration) throws(RadioError) {
        channelCount = format.channelCount
        lane = PlayoutLane(configuration: configuration)
        do {
            decoder = try OpusDecoder(channelCount: format.channelCount)
        } catch {
            throw RadioError(error)
        }
        do {
            converter = try RateConverter(from: .opus, to: format.rate, channelCount: format.channelCount)
        } catch {
            throw RadioError(error)
        }
        decoded = Preallocated(repeating: 0, count: OpusDecoder.maximumPacketDuration.rawValue * format.channelCount)
    }

    /// Whether another talker may have this voice.
    var isFree: Bool { ssrc == nil || (lane.isIdle && count == 0) }

    @_noAllocation @_noLocks
    mutating func begin(_ ssrc: SSRC) {
        self.ssrc = ssrc
        lane.reset()
        decoder.reset()
        (start, count) = (0, 0)
    }

    @_noAllocation @_noLocks
    mutating func insert(_ packet: borrowing IncomingPacket, arrivedAt arrival: FrameCount) {
        guard !packet.isGoodbye else { return lane.end() }
        _ = lane.insert(
            packet.packet.payload, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp,
            frameCount: packet.frameCount, carriesFEC: packet.carriesFEC, arrivedAt: arrival)
    }

    @_noAllocation @_noLocks
    mutating func skip(_ frames: FrameCount) { lane.skip(frames) }

    /// Fills `sound` (interleaved, at the card's rate) with what is due from `position` on. False when that is silence,
    /// and `sound` was left as it was.
    @_noAllocation @_noLocks
    mutating func pull(into sound: inout MutableSpan<Float>, at position: FrameCount) -> Bool {
        meanSquare = 0
        guard !isFree else { return false }
        converter.correct(by: lane.ratePartsPerMillion)
        let wanted = sound.count / channelCount
        var produced = 0
        while produced < wanted {
            if count == 0 { decode(at: position + FrameCount(produced), wanting: FrameCount(wanted - produced)) }
            let waiting = decoded.span.extracting(start * channelCount..<(start + count) * channelCount)
            var rest = sound._mutatingExtracting(produced * channelCount..<wanted * channelCount)
            let (consumed, made) = converter.process(waiting, into: &rest)
            start += consumed.rawValue
            count -= consumed.rawValue
            produced += made.rawValue
        }
        var sum: Float = 0
        for index in sound.indices { sum += sound[index] * sound[index] }
        meanSquare = sum / Float(max(sound.count, 1))
        return true
    }

    /// Asks the lane what comes next and performs it.
    @_noAllocation @_noLocks
    private mutating func decode(at position: FrameCount, wanting wanted: FrameCount) {
        start = 0
        switch lane.next(at: position, wanting: wanted) {
        case .silence(let frames):
            count = min(frames.rawValue, decoded.count / channelCount)
            silence()
        case .decode(let entry, let skipping):
            count = entry.frameCount.rawValue
            var room = decoded.mutableSpan
            do { count = try decoder.decode(lane.payload(of: entry), into: &room).rawValue } catch { silence() }
            start = min(skipping.rawValue, count)
            count -= start
        case .recover(let frames, let entry):
            count = frames.rawValue
            var room = decoded.mutableSpan
            do { try decoder.recover(frames, from: lane.payload(of: entry), into: &room) } catch { silence() }
        case .conceal(let frames):
            count = frames.rawValue
            var room = decoded.mutableSpan
            do { try decoder.conceal(frames, into: &room) } catch { silence() }
        }
    }

    private mutating func silence() {
        for index in 0..<count * channelCount { decoded[index] = 0 }
    }
}
