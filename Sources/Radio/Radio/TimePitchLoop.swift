internal import Glibc
internal import Synchronization
internal import TenfourAudioCore
internal import TenfourSoundCard
internal import TenfourSystem
internal import TenfourTimePitch

/// The worker thread that changes the rate and pitch of received audio before the audio is played and recorded.
struct TimePitchLoop: ~Copyable, Sendable {
    private var live: LiveTimePitch
    private let controls: Controls
    private let sharedState: TimePitchSharedState
    private let heard: RingBufferConsumer<RecordedAudio>
    private let card: RingBufferProducer<RecordedAudio>?
    private let tap: RingBufferProducer<RecordedAudio>?
    private var piece = RecordedAudio()
    private var sound: [Float]
    /// The number of samples that the card's ring buffer should contain: two periods of the card, and the 25 ms by
    /// which this thread may be late.
    private let targetLead: Int
    private var producedCount = 0
    /// The number of samples that were not recorded because the recording's ring buffer was full.
    private var droppedCount = 0

    private static let interval: UInt32 = 2_000
    /// The maximum number of times that a piece is offered again to a full recorder. All attempts together take a
    /// second. A recorder that has not made space by then has failed.
    private static let maximumRetryCount = 500

    init(
        _ live: consuming LiveTimePitch, period: FrameCount, _ controls: Controls, _ sharedState: TimePitchSharedState,
        from heard: consuming RingBufferConsumer<RecordedAudio>, to card: consuming RingBufferProducer<RecordedAudio>?,
        tap: consuming RingBufferProducer<RecordedAudio>?
    ) {
        let format = live.format
        targetLead = (format.rate.hertz / 40 + 2 * period.rawValue) * format.channelCount
        sound = [Float](repeating: 0, count: RecordedAudio().samples.count / format.channelCount * format.channelCount)
        self.live = live
        self.controls = controls
        self.sharedState = sharedState
        self.heard = heard
        self.card = card
        self.tap = tap
    }

    /// Runs until the playback thread has ended and its audio is processed.
    consuming func run() {
        var isLast = false
        while !isLast {
            isLast = controls.isPlaybackOver.load(ordering: .acquiring)
            live.rate = Double(bitPattern: controls.rate.load(ordering: .relaxed))
            live.pitch = Double(bitPattern: controls.pitch.load(ordering: .relaxed))
            collectInput()
            while card == nil || (isLast && tap != nil) || lead < targetLead {
                guard render(isLast: isLast) else { break }
                // Collects input after each piece, because rendering may take long, and the small ring buffer would
                // overflow.
                collectInput()
            }
            controls.timePitchLag.store(Int(live.lag / .microseconds(1)), ordering: .relaxed)
            controls.timePitchLoss.store(
                droppedCount + live.dropped.rawValue * live.format.channelCount, ordering: .relaxed)
            if !isLast { usleep(Self.interval) }
        }
    }

    /// The number of samples in the card's ring buffer.
    private var lead: Int { producedCount &- sharedState.consumedCount.load(ordering: .acquiring) }

    private mutating func collectInput() {
        while heard.pop(into: &piece) {
            for index in 0..<min(piece.count, sound.count) { sound[index] = piece.samples[index] }
            Self.append(sound, count: min(piece.count, sound.count), in: &live)
        }
    }

    /// Renders the next audio. Returns false if no audio could be rendered.
    private mutating func render(isLast: Bool) -> Bool {
        piece.count = Self.fill(&sound, from: &live, isLast: isLast) * live.format.channelCount
        guard piece.count > 0 else { return false }
        for index in 0..<piece.count { piece.samples[index] = sound[index] }
        if let isTaken = card?.push(piece), isTaken { producedCount &+= piece.count }
        // Lets this thread wait for a slow recorder, but only if no card waits for audio.
        var maximumRetryCount = card == nil || isLast ? Self.maximumRetryCount : 0
        while let isTaken = tap?.push(piece), !isTaken {
            guard maximumRetryCount > 0 else {
                droppedCount += piece.count
                break
            }
            maximumRetryCount -= 1
            usleep(Self.interval)
        }
        return true
    }

    // These functions are static and get single properties, so that the compiler permits access to two properties at
    // once.

    private static func append(_ sound: [Float], count: Int, in live: inout LiveTimePitch) {
        live.append(sound.span.extracting(0..<count))
    }

    private static func fill(_ sound: inout [Float], from live: inout LiveTimePitch, isLast: Bool) -> Int {
        var room = sound.mutableSpan
        return (isLast ? live.finish(into: &room) : live.render(into: &room)).rawValue
    }
}

/// The state that the threads before and after time-pitch processing share.
final class TimePitchSharedState: Sendable {
    /// The number of samples that the card's thread has consumed.
    let consumedCount = Atomic<Int>(0)
    private let xruns = Atomic<Int>(0)
    private let losses = Atomic<Int>(0)
    private let missed = Atomic<Int>(0)
    private let isCardLost = Atomic<Bool>(false)

    var interruptions: PlaybackReport.Interruptions {
        PlaybackReport.Interruptions(
            xruns: xruns.load(ordering: .relaxed), losses: losses.load(ordering: .relaxed),
            missed: FrameCount(missed.load(ordering: .relaxed)), isCardLost: isCardLost.load(ordering: .relaxed))
    }

    /// Counts frames that are requested while the card is lost, and are therefore not played.
    func recordDemand(_ frames: FrameCount) {
        if isCardLost.load(ordering: .relaxed) { missed.add(frames.rawValue, ordering: .relaxed) }
    }

    func record(_ interruption: Interruption) {
        missed.add(interruption.missed.rawValue, ordering: .relaxed)
        switch interruption.cause {
        case .xrun: xruns.add(1, ordering: .relaxed)
        case .suspended, .backlog, .resumed: break
        case .lost:
            losses.add(1, ordering: .relaxed)
            isCardLost.store(true, ordering: .relaxed)
        case .reopened: isCardLost.store(false, ordering: .relaxed)
        }
    }
}
