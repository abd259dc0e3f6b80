internal import TenfourAudioCore
internal import TenfourJitterBuffer
internal import TenfourResampling
internal import TenfourTimePitch
internal import TenfourTransmissions

/// Converts the packets of a replay to audio for the card, at the replay's rate and with the talkers' pitch.
///
/// For one thread at a time, which may wait: a replay allocates memory.
struct ReplayDecoder: ~Copyable, Sendable {
    /// The audio that `next` has produced, in its first samples.
    private(set) var output: [Float]

    private let format: LPCMFormat
    private var decoder: StreamDecoder
    private var budget = DecoderBudget(DecoderConfiguration(.plain))
    /// Converts to the card's rate; nil if that is the decoder's.
    private var converter: RateConverter?
    private var timePitch: TimePitch
    private var replay: TransmissionReplay?
    private var position = 0
    /// The frames of the present packet, which is a loss or a pause, that are still to come.
    private var rest = FrameCount.zero
    private var decoded: [Float]
    private var converted: [Float]
    private var isFinishing = false

    /// The longest audio that is concealed or skipped at once: libopus conceals at most a packet.
    private static let step = FrameCount(960)

    /// Decodes for a card with `format`.
    init(format: LPCMFormat) throws(RadioError) {
        converter = try Self.converter(to: format)
        decoder = try StreamDecoder(channelCount: format.channelCount)
        self.format = format
        timePitch = TimePitch(format: format)
        let longest = EncodedPacket.longestDuration
        decoded = [Float](repeating: 0, count: longest.rawValue * format.channelCount)
        let scaled = longest.rawValue * format.rate.hertz / SampleRate.opus.hertz + 64
        converted = [Float](repeating: 0, count: scaled * format.channelCount)
        // The rate is 1 or more, but the stretcher holds some audio back, which comes out later.
        output = [Float](repeating: 0, count: 2 * converted.count)
    }

    private static func converter(to format: LPCMFormat) throws(RadioError) -> RateConverter? {
        guard format.rate != .opus else { return nil }
        do { return try RateConverter(from: .opus, to: format.rate, channelCount: format.channelCount) } catch {
            throw RadioError(.failure, "\(error)")
        }
    }

    /// Begins with another replay, at `rate`.
    mutating func begin(_ replay: TransmissionReplay, rate: Double) {
        decoder.reset()
        timePitch.clear()
        timePitch.rate = rate
        (position, rest, isFinishing) = (0, .zero, false)
        self.replay = replay
    }

    /// Decodes the next packet. Returns the number of samples that are now in `output`; nil at the end.
    mutating func next() -> Int? {
        guard let replay else { return nil }
        guard position < replay.packets.count || rest > .zero else { return finish() }
        let frames = decodeNext(of: replay)
        let length = frames * format.channelCount
        let converted = convert(length)
        let samples = converter == nil ? decoded : self.converted
        var produced = FrameCount.zero
        var consumed = 0
        while consumed < converted {
            let progress = Self.process(
                samples.span.extracting(consumed..<converted), with: &timePitch, into: &output,
                from: produced.rawValue * format.channelCount)
            consumed += progress.consumed.rawValue * format.channelCount
            produced += progress.produced
            // The room is twice what a packet can fill.
            if progress.consumed == .zero { break }
        }
        return produced.rawValue * format.channelCount
    }

    /// Returns the rest of the audio that time-pitch processing holds back; nil if there is none.
    private mutating func finish() -> Int? {
        let produced = Self.finish(&timePitch, into: &output)
        guard produced > .zero else {
            replay = nil
            return nil
        }
        return produced.rawValue * format.channelCount
    }

    /// Decodes the next packet or piece of a pause into `decoded`. Returns its number of frames.
    private mutating func decodeNext(of replay: TransmissionReplay) -> Int {
        if rest == .zero {
            let packet = replay.packets[position]
            position += 1
            if packet.startsTransmission { decoder.reset() }
            if case .audio = packet.content { return decode(packet, of: replay) }
            rest = packet.frameCount
            return 0
        }
        let packet = replay.packets[position - 1]
        let frames = min(rest, Self.step)
        rest = rest - frames
        let length = frames.rawValue * format.channelCount
        if packet.content == .lost, Self.conceal(frames, &decoder, &budget, into: &decoded, length) {
            return frames.rawValue
        }
        for index in 0..<length { decoded[index] = 0 }
        return frames.rawValue
    }

    private mutating func decode(_ packet: TransmissionReplay.Packet, of replay: TransmissionReplay) -> Int {
        let payload = Array(replay.payload(of: packet))
        if let frames = Self.decode(payload, packet.encoding, &decoder, &budget, into: &decoded) {
            return frames.rawValue
        }
        let frames = min(packet.frameCount, EncodedPacket.longestDuration)
        for index in 0..<(frames.rawValue * format.channelCount) { decoded[index] = 0 }
        return frames.rawValue
    }

    // These functions are static and get single properties, so that the compiler permits access to several at once.

    private static func decode(
        _ payload: [UInt8], _ encoding: AudioEncoding, _ decoder: inout StreamDecoder, _ budget: inout DecoderBudget,
        into decoded: inout [Float]
    ) -> FrameCount? {
        var room = decoded.mutableSpan
        return decoder.decode(EncodedPacket(payload.span, encoding), into: &room, within: &budget)
    }

    private static func conceal(
        _ frames: FrameCount, _ decoder: inout StreamDecoder, _ budget: inout DecoderBudget,
        into decoded: inout [Float], _ length: Int
    ) -> Bool {
        var room = decoded.mutableSpan
        var samples = room._mutatingExtracting(0..<length)
        return decoder.conceal(frames, into: &samples, within: &budget) != nil
    }

    private static func finish(_ timePitch: inout TimePitch, into output: inout [Float]) -> FrameCount {
        var room = output.mutableSpan
        return timePitch.finish(into: &room)
    }

    private static func process(
        _ input: Span<Float>, with timePitch: inout TimePitch, into output: inout [Float], from start: Int
    ) -> EffectProgress {
        var room = output.mutableSpan
        var free = room._mutatingExtracting(start..<room.count)
        return timePitch.process(input, into: &free)
    }

    /// Converts `length` samples of `decoded` to the card's rate. Returns the number of samples.
    private mutating func convert(_ length: Int) -> Int {
        guard converter != nil else { return length }
        return Self.convert(decoded, length, with: &converter, into: &converted) * format.channelCount
    }

    private static func convert(
        _ input: [Float], _ length: Int, with converter: inout RateConverter?, into output: inout [Float]
    ) -> Int {
        var room = output.mutableSpan
        return converter?.process(input.span.extracting(0..<length), into: &room).produced.rawValue ?? 0
    }
}
