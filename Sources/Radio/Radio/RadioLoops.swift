package import TenfourAudioCore
internal import TenfourAudioFile
package import TenfourJitterBuffer
package import TenfourOpusCodec
internal import TenfourPackets
package import TenfourSession
internal import TenfourSoundCard
internal import TenfourSystem
internal import TenfourTimePitch
internal import TenfourUV
internal import TenfourVoiceProcessing

/// The loops of a session, opened and connected, before each is moved to its thread.
struct RadioLoops: ~Copyable, Sendable {
    var capture: CaptureLoop?
    var playback: PlaybackLoop?
    /// The loop that changes rate and pitch between playback and the card; playback then follows the clock. Nil if rate
    /// and pitch are fixed.
    var timePitchLoop: TimePitchLoop?
    var card: TimePitchPlaybackLoop?
    var recorder: Recorder?
    /// The loop that decodes what is replayed; nil if nothing can be.
    var replay: ReplayLoop?
    /// The stack that the decoders use, in bytes, in addition to the playback loop's own.
    var playbackStackByteCount = 0

    struct Opened: ~Copyable {
        var loops: RadioLoops
        let network: NetworkLoop
        let openings: [String]
        let cardChanges: [CardChanges]
    }

    /// The capacity of the ring buffer between the capture thread and the network thread, in packets: more than a
    /// second of the shortest packets. Packets beyond it are dropped.
    private static let outgoingCapacity = 512
    /// The stack of a loop, in bytes. Measured use: 80 KiB.
    private static let stackByteCountOfLoop = 1 << 17
    /// The capacity of the ring buffer between the network thread and the playback thread, in packets. Packets beyond
    /// it are dropped.
    private static let incomingCapacity = 512

    static func open(
        _ configuration: RadioConfiguration, _ controls: Controls, _ state: RadioState
    ) throws(RadioError) -> Opened {
        let outgoing = RingBuffer(capacity: outgoingCapacity, filler: OutgoingPacket())
        let incoming = RingBuffer(capacity: incomingCapacity, filler: IncomingPacket())
        let captured = LatestValue(CaptureReport())
        var openings: [String] = []
        var cardChanges: [CardChanges] = []

        let hears = configuration.output != nil || configuration.recording != nil
        // Runs the trial before a card is opened, because an open card requests audio.
        let trial = try hears ? DecoderTrial(of: configuration.playout.decoder) : .none
        let output = try openOutput(configuration, &openings, &cardChanges)
        let input = try openInput(configuration, &openings, &cardChanges)
        var voice = VoicePath(configuration, input, output)
        if voice.played != nil { openings.append("cancels the echo of the loudspeaker") }
        let decoding = Self.decoding(configuration.playout, trial, for: output)
        // Sets the decoder state that reports to senders use before the first pull.
        var noReport = PlaybackReport()
        noReport.decoder = DecoderBudget(decoding)
        let played = LatestValue(noReport)
        if hears { openings.append(decoding.summary(configuration.playout.decoder, trial)) }
        let network = try openNetwork(
            configuration, decoding.concealment, controls, state, incoming: incoming.producer,
            outgoing: outgoing.consumer,
            captured: captured.reader, played: played.reader)

        var loops = RadioLoops()
        if let input {
            let talker = try EncoderPipeline(
                format: input.format, coding: configuration.codingAsProtected,
                waitsForFloor: configuration.floor != .none)
            let processor = VoiceProcessor(
                format: input.format, piece: input.longestPiece, settings: configuration.voice,
                reference: voice.reference.take())
            loops.capture = CaptureLoop(
                input, closesCard: configuration.closesCaptureCard, processor, talker, controls, network.wakeup,
                packets: outgoing.producer, reports: captured.writer, failed: state.fail)
        }
        if let output {
            let pieces = try openRecorder(configuration, format: output.format, state, &loops)
            let loudspeaker = try loops.openLoudspeaker(output, controls)
            loops.playbackStackByteCount = trial.stackByteCount + stackByteCountOfLoop
            let pipeline = try PlayoutPipeline(
                format: output.format,
                configuration: configuration.playout.jitterBuffer(
                    period: output.period, output.format.rate, configuration.rtpSessionAsCoded.lossProtection),
                decoding: decoding, longestPull: output.period)
            if let timePitch = configuration.playout.timePitch {
                loops.insertTimePitch(
                    output, pipeline, loudspeaker, timePitch, controls, packets: incoming.consumer,
                    reports: played.writer, tap: pieces, echo: voice.played.take())
            } else {
                loops.playback = PlaybackLoop(
                    output, pipeline, controls, loudspeaker, packets: incoming.consumer, reports: played.writer,
                    tap: pieces, echo: voice.played.take())
            }
        }
        return Opened(loops: loops, network: network, openings: openings, cardChanges: cardChanges)
    }

    /// Makes playback follow the clock, and inserts a worker thread between playback and the card.
    private mutating func insertTimePitch(
        _ output: consuming PlaybackOutput, _ pipeline: consuming PlayoutPipeline,
        _ loudspeaker: consuming LoudspeakerStage, _ timePitch: LiveTimePitchSettings, _ controls: Controls,
        packets: consuming RingBufferConsumer<IncomingPacket>,
        reports: consuming LatestWriter<PlaybackReport>, tap: consuming RingBufferProducer<RecordedAudio>?,
        echo: consuming PlayedAudioWriter?
    ) {
        let (format, period) = (output.format, output.period)
        let capacity = Recorder.capacity(period: period.duration(at: format.rate), format: format)
        let heard = RingBuffer(capacity: capacity, filler: RecordedAudio())
        let sharedState = TimePitchSharedState()
        let live = LiveTimePitch(format: format, longestLag: timePitch.longestLag)
        let clock = PlaybackOutput(clock: format, period: period)
        if output.granted == nil {
            timePitchLoop = TimePitchLoop(
                live, period: period, controls, sharedState, from: heard.consumer, to: nil, tap: tap)
            playback = PlaybackLoop(
                clock, pipeline, controls, loudspeaker, packets: packets, reports: reports, tap: heard.producer)
        } else {
            let processed = RingBuffer(capacity: capacity, filler: RecordedAudio())
            timePitchLoop = TimePitchLoop(
                live, period: period, controls, sharedState, from: heard.consumer, to: processed.producer, tap: tap)
            card = TimePitchPlaybackLoop(
                output, controls, sharedState, loudspeaker, pieces: processed.consumer, echo: echo)
            playback = PlaybackLoop(
                clock, pipeline, controls, nil, packets: packets, reports: reports, tap: heard.producer,
                card: sharedState)
        }
    }

    /// Makes the last stage before the card, and the loop of a replay if there can be one.
    private mutating func openLoudspeaker(
        _ output: borrowing PlaybackOutput, _ controls: Controls
    ) throws(RadioError) -> LoudspeakerStage {
        guard let replays = controls.replays else { return LoudspeakerStage(format: output.format) }
        let pieces = RingBuffer(capacity: ReplayLoop.pieceCount, filler: RecordedAudio())
        replay = try ReplayLoop(replays, controls, format: output.format, to: pieces.producer)
        return LoudspeakerStage(
            format: output.format,
            replay: LoudspeakerReplay(replays, pieces.consumer, format: output.format, period: output.period))
    }

    static func openOutput(
        _ configuration: RadioConfiguration, _ openings: inout [String], _ cardChanges: inout [CardChanges]
    ) throws(RadioError) -> PlaybackOutput? {
        let playout = configuration.playout
        switch configuration.output {
        case .none:
            return configuration.recording == nil
                ? nil : PlaybackOutput(clockWithChannelCount: playout.channelCount, period: playout.period)
        case .clock:
            return PlaybackOutput(clockWithChannelCount: playout.channelCount, period: playout.period)
        case .card(let name):
            let output = try card(name, playout)
            if let granted = output.granted { openings.append("plays on \(granted.summary)") }
            if let changes = output.changes { cardChanges.append(changes) }
            return output
        }
    }

    private static func decoding(
        _ playout: PlayoutSettings, _ trial: DecoderTrial, for output: borrowing PlaybackOutput?
    ) -> DecoderConfiguration {
        switch output {
        case .none: DecoderConfiguration(.plain)
        case .some(let output): DecoderConfiguration(playout.decoder, trial, slack: playout.slack(of: output))
        }
    }

    private static func card(_ name: String, _ playout: PlayoutSettings) throws(RadioError) -> PlaybackOutput {
        do throws(SoundCardError) {
            return try PlaybackOutput(
                card: name, channelCount: playout.channelCount, period: playout.period,
                queuedPeriods: playout.queuedPeriods)
        } catch {
            throw RadioError(.unavailable, error.description)
        }
    }

    static func openInput(
        _ configuration: RadioConfiguration, _ openings: inout [String], _ cardChanges: inout [CardChanges]
    ) throws(RadioError) -> CaptureInput? {
        let coding = configuration.coding
        switch configuration.input {
        case .none:
            return nil
        case .file(let path, let raw):
            // A pipe is read as it arrives, and raw audio has no header to recognize it by.
            let media = raw == nil ? try MediaInput(path: path) : nil
            let input =
                if let media {
                    CaptureInput(
                        AudioInput(media), channelCount: coding.channelCount, of: coding.captureChannel,
                        frame: coding.frame)
                } else {
                    try CaptureInput(
                        file: path, raw: raw, channelCount: coding.channelCount, of: coding.captureChannel,
                        frame: coding.frame)
                }
            openings.append("sends \(path == "-" ? "standard input" : path), \(input.format.summary)")
            return input
        case .sound(let sound):
            let input = CaptureInput(
                sound, channelCount: coding.channelCount, of: coding.captureChannel, frame: coding.frame)
            openings.append("sends the samples given to it, \(input.format.summary)")
            return input
        case .card(let name):
            let input = try CaptureInput(
                card: name, channelCount: coding.channelCount, of: coding.captureChannel, frame: coding.frame)
            if let granted = input.granted { openings.append("captures from \(granted.summary)") }
            if let changes = input.changes { cardChanges.append(changes) }
            return input
        }
    }

    private static func openRecorder(
        _ configuration: RadioConfiguration, format: LPCMFormat, _ state: RadioState, _ loops: inout RadioLoops
    ) throws(RadioError) -> RingBufferProducer<RecordedAudio>? {
        guard let recording = configuration.recording else { return nil }
        let period = configuration.playout.period
        switch recording {
        case .closure(let closure):
            let pieces = RingBuffer(
                capacity: Recorder.capacity(period: period, format: format), filler: RecordedAudio())
            loops.recorder = Recorder(
                file: nil, closure: closure, format: format, pieces.consumer, failed: state.fail)
            return pieces.producer
        case .file(let path):
            let pieces = RingBuffer(
                capacity: Recorder.capacity(period: period, format: format, seconds: Recorder.longestWrite),
                filler: RecordedAudio())
            loops.recorder = Recorder(
                file: try writer(path, format), closure: nil, format: format, pieces.consumer, failed: state.fail)
            return pieces.producer
        }
    }

    private static func writer(_ path: String, _ format: LPCMFormat) throws(RadioError) -> AudioFileWriter {
        do { return try AudioFileWriter(path: path, format: format, createsOnFirstWrite: true) } catch {
            throw RadioError(.unavailable, error.description)
        }
    }

    private static func openNetwork(
        _ configuration: RadioConfiguration, _ concealment: PacketLossConcealment, _ controls: Controls,
        _ state: RadioState, incoming: consuming RingBufferProducer<IncomingPacket>,
        outgoing: consuming RingBufferConsumer<OutgoingPacket>,
        captured: consuming LatestReader<CaptureReport>, played: consuming LatestReader<PlaybackReport>
    ) throws(RadioError) -> NetworkLoop {
        var configuration = configuration
        configuration.rtpSession.lossProtection.concealment = concealment
        let hears = configuration.output != nil || configuration.recording != nil
        let limits = NetworkLoop.Limits(
            duration: configuration.duration, endsWithLastSource: configuration.endsWithLastSource,
            endsWithInput: configuration.input != nil && !hears)
        return try NetworkLoop(
            configuration, controls, state, limits: limits, incoming: incoming, outgoing: outgoing,
            captured: configuration.input == nil ? nil : consume captured, played: hears ? consume played : nil)
    }
}

extension CodingSettings {
    /// The mode of the encoder. With frames below 10 ms Opus cannot use SILK; without SILK its look-ahead is 4 ms
    /// shorter.
    package var application: OpusEncoder.Application {
        if frame < .milliseconds(10) { return .lowDelay }
        return content == .speech ? .voip : .audio
    }

    package var settings: OpusEncoderSettings {
        var settings = OpusEncoderSettings()
        settings.bitRate = bitRate
        settings.complexity = complexity
        settings.expectedLoss = expectedLoss
        settings.inBandFEC = fec == .on || fec == .automatic && expectedLoss > 0
        settings.signal = content == .speech ? .speech : .music
        return settings
    }
}

extension PlayoutSettings {
    /// Returns the configuration of a jitter buffer for a card with this `period` in frames. Its margin is a period and
    /// 1.5 ms: a packet must have arrived when the pull with its first frame begins, and a thread wakes up to 1.5 ms
    /// late even with real-time priority.
    package func jitterBuffer(period: FrameCount, _ rate: SampleRate, _ lossProtection: LossProtectionConfiguration)
        -> PlayoutConfiguration
    {
        let pull = period.duration(at: rate)
        let limit = FrameCount(lossProtection.maximumDelay)
        var jitterBuffer = PlayoutConfiguration(
            playoutDelay: fixedDelay.map { .fixed(FrameCount($0)) } ?? .adaptive,
            margin: FrameCount(pull + .microseconds(1_500)),
            minimum: FrameCount(minimumDelay),
            maximum: FrameCount(maximumDelay),
            recovery: RecoveryDemand(
                lookAhead: .zero, retransmissionTime: lossProtection.expectsLoss ? limit : .zero, limit: limit))
        jitterBuffer.longestStall = FrameCount(longestStall)
        return jitterBuffer
    }
}

extension PlayoutSettings {
    /// Returns the time by which a pull may be late before the card runs dry.
    fileprivate func slack(of output: borrowing PlaybackOutput) -> Duration {
        let period = output.period.duration(at: output.format.rate)
        return output.granted == nil ? period : period * max(queuedPeriods - 1, 0.5)
    }
}

extension NegotiatedFormat {
    /// One line for the user, such as `labcard:mic (S16_LE, 48000 Hz, periods of 960, buffer of 3840)`.
    var summary: String {
        "\(device) (\(sampleFormat), \(format.summary), periods of \(period.rawValue) frames, buffer of \(buffer.rawValue))"
    }
}

extension LPCMFormat {
    var summary: String { "\(rate.hertz) Hz, \(channelCount == 1 ? "mono" : "\(channelCount) channels")" }
}
