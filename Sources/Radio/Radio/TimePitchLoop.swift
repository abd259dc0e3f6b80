internal import Glibc
internal import Synchronization
internal import TenfourAudioCore
internal import TenfourRings
internal import TenfourSoundCard
internal import TenfourTimePitch

/// Bends what was heard on its way to a card and to a recording, on a worker.
struct TimePitchLoop: ~Copyable, Sendable {
    private var live: LiveTimePitch
    private let controls: Controls
    private let news: TimePitchSharedState
    private let heard: RingBufferConsumer<RecordedAudio>
    private let card: RingBufferProducer<RecordedAudio>?
    private let tap: RingBufferProducer<RecordedAudio>?
    private var piece = RecordedAudio()
    private var sound: [Float]
    /// What the card is given ahead: what this thread may be late by, and a period.
    private let ahead: Int
    private var given = 0
    /// Samples that a recording had no room for.
    private var unwritten = 0

    private static let interval: UInt32 = 2_000
    /// A second: then whoever writes has given up.
    private static let patience = 500

    init(
        _ live: consuming LiveTimePitch, period: FrameCount, _ controls: Controls, _ news: TimePitchSharedState,
        from heard: consuming RingBufferConsumer<RecordedAudio>, to card: consuming RingBufferProducer<RecordedAudio>?,
        tap: consuming RingBufferProducer<RecordedAudio>?
    ) {
        let format = live.format
        ahead = (format.rate.hertz / 40 + 2 * period.rawValue) * format.channelCount
        sound = [Float](repeating: 0, count: RecordedAudio().samples.count / format.channelCount * format.channelCount)
        self.live = live
        self.controls = controls
        self.news = news
        self.heard = heard
        self.card = card
        self.tap = tap
    }

    /// Runs until the playback thread has ended and what it left is bent.
    consuming func run() {
        var isLast = false
        while !isLast {
            isLast = controls.isPlaybackOver.load(ordering: .acquiring)
            live.rate = Double(bitPattern: controls.rate.load(ordering: .relaxed))
            live.pitch = Double(bitPattern: controls.pitch.load(ordering: .relaxed))
            take()
            while card == nil || (isLast && tap != nil) || given &- news.taken.load(ordering: .acquiring) < ahead {
                guard give(isLast: isLast) else { break }
                // However long this takes, what has come does not wait where there is little room.
                take()
            }
            controls.timePitchLag.store(Int(live.lag / .microseconds(1)), ordering: .relaxed)
            controls.timePitchLoss.store(
                unwritten + live.dropped.rawValue * live.format.channelCount, ordering: .relaxed)
            if !isLast { usleep(Self.interval) }
        }
    }

    private mutating func take() {
        while heard.pop(into: &piece) {
            for index in 0..<min(piece.count, sound.count) { sound[index] = piece.samples[index] }
            Self.put(sound, count: min(piece.count, sound.count), in: &live)
        }
    }

    /// Returns whether there was any.
    private mutating func give(isLast: Bool) -> Bool {
        piece.count = Self.fill(&sound, from: &live, isLast: isLast) * live.format.channelCount
        guard piece.count > 0 else { return false }
        for index in 0..<piece.count { piece.samples[index] = sound[index] }
        if let isTaken = card?.push(piece), isTaken { given &+= piece.count }
        // A recording is written by a thread that may be slow: where no card waits, there is time for it.
        var patience = card == nil || isLast ? Self.patience : 0
        while let isTaken = tap?.push(piece), !isTaken {
            guard patience > 0 else {
                unwritten += piece.count
                break
            }
            patience -= 1
            usleep(Self.interval)
        }
        return true
    }

    // Apart from `self`, whose parts would otherwise be taken for one.

    private static func put(_ sound: [Float], count: Int, in live: inout LiveTimePitch) {
        live.append(sound.span.extracting(0..<count))
    }

    private static func fill(_ sound: inout [Float], from live: inout LiveTimePitch, isLast: Bool) -> Int {
        var room = sound.mutableSpan
        return (isLast ? live.finish(into: &room) : live.render(into: &room)).rawValue
    }
}

/// What the threads on both sides of the bent sound tell each other.
final class TimePitchSharedState: Sendable {
    /// Samples that the card's thread has taken.
    let taken = Atomic<Int>(0)
    private let xruns = Atomic<Int>(0)
    private let losses = Atomic<Int>(0)
    private let missed = Atomic<Int>(0)
    private let isCardLost = Atomic<Bool>(false)

    var interruptions: PlaybackReport.Interruptions {
        PlaybackReport.Interruptions(
            xruns: xruns.load(ordering: .relaxed), losses: losses.load(ordering: .relaxed),
            missed: FrameCount(missed.load(ordering: .relaxed)), isCardLost: isCardLost.load(ordering: .relaxed))
    }

    /// Counts frames that are demanded while the card is lost: they are not played.
    func demanded(_ frames: FrameCount) {
        if isCardLost.load(ordering: .relaxed) { missed.add(frames.rawValue, ordering: .relaxed) }
    }

    func note(_ interruption: Interruption) {
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
