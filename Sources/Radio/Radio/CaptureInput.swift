internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourSoundCard

/// The source of the audio to be sent: a card, which keeps its own time, or a file or pipe, paced by the clock.
struct CaptureInput: ~Copyable, Sendable {
    enum DeviceEvent {
        /// The number of frames captured, and before them the number that the source missed.
        case captured(FrameCount, after: FrameCount)
        case interrupted(Interruption)
        case ended
        case failed(RadioError)
    }

    let format: LPCMFormat
    /// The format that the card granted; nil for a file.
    let granted: NegotiatedFormat?
    /// Receives a notice when a card comes back with another format; nil without a card.
    let changes: CardChanges?
    /// Whether a pipe that gives nothing and does not end can block it for ever.
    let mayHang: Bool
    /// The audio of the last call, from index 0 on.
    private(set) var sound: FixedBuffer<Float>

    private var card: CaptureCard?
    private var file: AudioFileReader?
    private let given: AudioInput?
    private var periodTimer: PeriodTimer
    /// Audio as read, in the source's own channels.
    private var read: FixedBuffer<Float>
    private let readChannelCount: Int
    private let channel: CaptureChannel
    /// For a card with two channels; nil otherwise.
    private var detector: SilentChannelDetector?

    /// For a card with two channels, the one with digital silence while the other has audio.
    var silentChannel: CaptureChannel? { @_noAllocation @_noLocks get { detector?.silentChannel } }

    /// The period is short even where packets are long, because a sound server takes it for the wanted latency.
    private static let longestPeriod = Duration.milliseconds(5)

    /// Captures one packet, `frame`, at a time. Both channels of the card are captured, however many are sent, because
    /// plugins mix them otherwise, and a silent one would halve the other.
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

    /// Reads a file or a pipe one frame at a time. A live pipe keeps its own pace, a file is paced by the clock.
    /// Without `raw` a file without a header is refused. Mixed to `channelCount`.
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

    /// Audio from a program, paced by the clock as a file is.
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

    /// Requests a larger quantum from a sound server if the capture thread has no real-time priority.
    mutating func fit(_ priority: RealTime) {
        if case .granted = priority { return }
        card?.allowForLateWakeups()
    }

    mutating func next() -> DeviceEvent {
        switch Self.read(&card, into: &read) {
        case .captured:
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

    /// Mixes the frames read into the channels that are sent.
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

    /// Reviewed: nothing is freed, though the compiler takes the end of a Span's life for that.
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
