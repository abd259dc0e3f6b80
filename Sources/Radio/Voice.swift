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
    private var decoded: DecodedSound

    /// `format` is the card's.
    init(format: LPCMFormat, configuration: PlayoutConfiguration) throws(RadioError) {
        let decoder = try Self.decoder(channelCount: format.channelCount)
        let converter = try Self.converter(to: format)
        self.decoder = decoder
        self.converter = converter
        channelCount = format.channelCount
        lane = PlayoutLane(configuration: configuration)
        decoded = DecodedSound(channelCount: format.channelCount)
    }

    /// Whether another talker may have this voice.
    var isFree: Bool { @_noAllocation @_noLocks get { ssrc == nil || (lane.isIdle && decoded.count == 0) } }

    @_noAllocation @_noLocks
    mutating func begin(_ ssrc: SSRC) {
        self.ssrc = ssrc
        lane.reset()
        decoder.reset()
        decoded.removeAll()
    }

    @_noAllocation @_noLocks
    mutating func insert(_ packet: borrowing IncomingPacket, arrivedAt arrival: FrameCount) {
        guard !packet.isGoodbye else { return lane.end() }
        insertPayload(of: packet, arrivedAt: arrival)
    }

    /// Vetted: nothing is freed here, though the compiler takes the end of a Span's life for that.
    @_semantics("no_performance_analysis")
    private mutating func insertPayload(of packet: borrowing IncomingPacket, arrivedAt arrival: FrameCount) {
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
            if decoded.count == 0 {
                let operation = lane.next(
                    at: position + FrameCount(produced), wanting: FrameCount(wanted - produced))
                decoded.fill(operation, with: &decoder, from: lane)
            }
            produced += decoded.play(through: &converter, into: &sound, behind: produced)
        }
        measure(sound)
        return true
    }

    /// Vetted: nothing is freed here, though the compiler takes the end of a Span's life for that.
    @_semantics("no_performance_analysis")
    private mutating func measure(_ sound: borrowing MutableSpan<Float>) {
        meanSquare = Sound.meanSquare(of: sound.span)
    }

    private static func decoder(channelCount: Int) throws(RadioError) -> OpusDecoder {
        do { return try OpusDecoder(channelCount: channelCount) } catch { throw RadioError(error) }
    }

    private static func converter(to format: LPCMFormat) throws(RadioError) -> RateConverter {
        do {
            return try RateConverter(from: .opus, to: format.rate, channelCount: format.channelCount)
        } catch {
            throw RadioError(error)
        }
    }
}
