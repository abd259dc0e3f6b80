internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourSoundCard
internal import TenfourVoiceProcessing

/// The source of the audio to be sent: a card, which has its own clock, or a file or pipe, paced by the system's clock.
struct CaptureInput: ~Copyable, Sendable {
    enum DeviceEvent {
        /// The number of frames captured, and the number of frames that the source missed before them.
        case captured(FrameCount, after: FrameCount)
        case interrupted(Interruption)
        case ended
        case failed(RadioError)
    }

    let format: LPCMFormat
    /// The sample format of the card, as negotiated with it; nil if the source is not a card.
    let granted: NegotiatedFormat?
    /// Receives a notice when a reconnected card has another format; nil without a card.
    let changes: CardChanges?
    /// Whether the input can block for ever, because it is a pipe that may deliver nothing without ending.
    let mayHang: Bool
    /// The audio that the last call of `next` has captured and mixed, from index 0 on.
    private(set) var sound: FixedBuffer<Float>
    /// The time at which the first frame of `sound` was at the microphone; nil if the source is not a card.
    private(set) var capturedAt: Instant?

    private var card: CaptureCard?
    private var file: AudioFileReader?
    private let given: AudioInput?
    private var periodTimer: PeriodTimer
    /// The audio that was read last, before it is mixed: interleaved, with all channels of the source.
    private var read: FixedBuffer<Float>
    private let readChannelCount: Int
    private let channel: CaptureChannel
    /// The detector for a card with two channels; nil for other inputs.
    private var detector: SilentChannelDetector?

    /// The channel with digital silence while the other channel of a stereo card has audio; nil if there is none.
    var silentChannel: CaptureChannel? { @_noAllocation @_noLocks get { detector?.silentChannel } }

    /// The longest period of the card. It is short even if packets are long, because a sound server uses the period as
    /// the latency.
    private static let longestPeriod = Duration.milliseconds(5)

    /// Creates an input that reads a card in pieces of one packet's duration, `frame`, but at most 20 ms. Both channels
    /// of the card are captured even if only one is sent. If one channel were requested, plugins would mix both, and a
    /// silent channel would halve the level of the other.
    init(
        card name: String, channelCount: Int, of channel: CaptureChannel, frame: Duration
    ) throws(RadioError) {
        let wanted = FrameCount(min(frame, .milliseconds(20)))
        do {
            let card = try CaptureCard(
                device: name, format: .stereo, period: min(wanted, FrameCount(Self.longestPeriod)), frame: wanted)
            granted = card.granted
            changes = card.changes
            let rate = card.granted.format.rate
            format = LPCMFormat(rate: rate, channelCount: channelCount)
            sound = FixedBuffer(repeating: 0, count: card.frame.rawValue * channelCount)
            readChannelCount = card.granted.format.channelCount
            read = FixedBuffer(repeating: 0, count: card.frame.rawValue * readChannelCount)
            detector = card.granted.cardChannelCount > 1 ? SilentChannelDetector(rate: rate.hertz) : nil
            self.channel = channel
            periodTimer = PeriodTimer(rate: card.granted.format.rate)
            mayHang = false
            self.card = consume card
            file = nil
            given = nil
        } catch {
            throw RadioError(.unavailable, error.description)
        }
    }

    /// Creates an input that reads a file or a pipe in pieces of one packet's duration, `frame`, but at most 20 ms, and
    /// mixes them to `channelCount` channels. A live pipe is read at its own pace, a file at the pace of the clock. If
    /// `raw` is nil, a file without a header is refused.
    init(
        file path: String, raw: RawFormat?, channelCount: Int, of channel: CaptureChannel, frame: Duration
    ) throws(RadioError) {
        do {
            let reader = try AudioFileReader(path: path, rawFormat: raw)
            granted = nil
            changes = nil
            format = LPCMFormat(rate: reader.format.rate, channelCount: channelCount)
            let frames = FrameCount(min(frame, .milliseconds(20)), at: reader.format.rate)
            sound = FixedBuffer(repeating: 0, count: frames.rawValue * channelCount)
            read = FixedBuffer(repeating: 0, count: frames.rawValue * reader.format.channelCount)
            readChannelCount = reader.format.channelCount
            periodTimer = PeriodTimer(rate: reader.format.rate)
            mayHang = reader.frameCount == nil
            file = consume reader
            card = nil
            given = nil
            self.channel = channel
            detector = nil
        } catch {
            throw RadioError(.unavailable, error.description)
        }
    }

    /// Creates an input of audio from a program, paced by the clock like a file.
    init(_ sound: AudioInput, channelCount: Int, of channel: CaptureChannel, frame: Duration) {
        granted = nil
        changes = nil
        format = LPCMFormat(rate: sound.format.rate, channelCount: channelCount)
        let frames = FrameCount(min(frame, .milliseconds(20)), at: sound.format.rate)
        self.sound = FixedBuffer(repeating: 0, count: frames.rawValue * channelCount)
        read = FixedBuffer(repeating: 0, count: frames.rawValue * sound.format.channelCount)
        readChannelCount = sound.format.channelCount
        periodTimer = PeriodTimer(rate: sound.format.rate)
        mayHang = false
        card = nil
        file = nil
        given = sound
        self.channel = channel
        detector = nil
    }

    /// Requests a larger quantum from the sound server if the capture thread has no real-time priority.
    mutating func fit(_ priority: RealTime) {
        if case .granted = priority { return }
        card?.allowForLateWakeups()
    }

    /// Closes the card, or opens it again. Other inputs stay open.
    mutating func setOpen(_ isOpen: Bool) { if isOpen { card?.reopen() } else { card?.close() } }

    /// Whether the card is closed or lost, and silence takes its place.
    var isCardAwaited: Bool {
        switch card {
        case .some(let card): card.isAwaited
        case .none: false
        }
    }

    /// The number of frames that `next` captures, unless the source ends.
    var longestPiece: FrameCount { FrameCount(sound.count / format.channelCount) }

    /// Processes the first `frameCount` frames of `sound`.
    @_noAllocation @_noLocks
    mutating func process(_ frameCount: FrameCount, with voice: inout VoiceProcessor) {
        voice.process(&sound, frameCount: frameCount, capturedAt: capturedAt)
    }

    mutating func next() -> DeviceEvent {
        switch Self.read(&card, into: &read) {
        case .captured(let time):
            capturedAt = time
            let frames = read.count / readChannelCount
            watch(frames)
            mix(frames)
            return .captured(FrameCount(frames), after: .zero)
        case .interrupted(let interruption): return .interrupted(interruption)
        case .none: break
        }
        do {
            let frames = try Self.read(given, or: &file, into: &read)
            guard frames > .zero else { return .ended }
            mix(frames.rawValue)
            let beat = periodTimer.wait(for: frames.rawValue)
            return .captured(frames, after: beat.missed)
        } catch {
            return .failed(error)
        }
    }

    /// Mixes the frames that were read last into the audio channels that are sent.
    @_noAllocation @_noLocks
    private mutating func mix(_ frames: Int) {
        let (from, to) = (readChannelCount, format.channelCount)
        let last = from > 1 ? 1 : 0
        for frame in 0..<frames {
            switch channel {
            case .left: for side in 0..<to { sound[frame * to + side] = read[frame * from] }
            case .right: for side in 0..<to { sound[frame * to + side] = read[frame * from + last] }
            case .mix where to == 1:
                var sum: Float = 0
                for place in 0..<from { sum += read[frame * from + place] }
                sound[frame] = sum / Float(from)
            case .mix:
                for side in 0..<to { sound[frame * to + side] = read[frame * from + (side > last ? last : side)] }
            }
        }
    }

    @_noAllocation @_noLocks
    private mutating func watch(_ frames: Int) {
        guard detector != nil else { return }
        var (soundsLeft, soundsRight) = (false, false)
        for frame in 0..<frames {
            if read[frame * readChannelCount] != 0 { soundsLeft = true }
            if read[frame * readChannelCount + 1] != 0 { soundsRight = true }
        }
        detector?.append(frames, soundsLeft: soundsLeft, soundsRight: soundsRight)
    }

    /// Exempt from the compiler's allocation check, which would take the end of a Span's lifetime for a deallocation.
    /// Reviewed by hand: nothing is freed here.
    @_semantics("no_performance_analysis")
    private static func read(_ card: inout CaptureCard?, into sound: inout FixedBuffer<Float>) -> CaptureEvent? {
        var room = sound.mutableSpan
        return card?.read(into: &room)
    }

    private static func read(
        _ given: AudioInput?, or file: inout AudioFileReader?, into sound: inout FixedBuffer<Float>
    ) throws(RadioError) -> FrameCount {
        var room = sound.mutableSpan
        if let given { return try given.read(&room) }
        do throws(AudioFileError) {
            return try file?.read(into: &room) ?? .zero
        } catch {
            throw RadioError(.failure, error.description)
        }
    }
}
