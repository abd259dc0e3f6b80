public import TenfourAudioCore

/// Decides from the level of captured audio whether somebody talks (VOX).
///
/// Reads no clock and no card. The threshold follows the noise: it lies above the quietest moments of the last four
/// seconds, and above the usual level while nobody talks, by more the more that level varies. Noise that begins suddenly
/// opens it, and no longer keeps it open after four seconds. The begin of speech is found some 40 ms late, which the
/// pre-roll makes up for.
public struct VoiceActivity: Sendable {
    public struct Settings: Hashable, Sendable {
        /// The time for which it stays open after the last speech, so that it does not close between words.
        public var hang = Duration.milliseconds(800)
        /// The number of decibels above the noise at which speech begins.
        public var margin: Float = 9
        /// The level below which nothing is speech.
        public var lowestSpeech = Level(decibels: -50)

        public init() {}
    }

    public let settings: Settings
    /// Whether somebody talks, or did within the hang time.
    public private(set) var isOpen = false

    private var silence = DigitalSilence()
    private var floor = NoiseFloor()
    private var usual = UsualLevel()
    private var last: Instant?
    private var start = Instant.start
    /// The time for which the level has been above the threshold without a break.
    private var loudTime = Duration.zero
    private var lastSpeech = Instant.start

    /// The time at the start in which the noise is learnt.
    private static let learningTime = Duration.milliseconds(300)
    /// A shorter sound, such as the click of a key, is not speech. It is longer than a packet of 20 ms.
    private static let shortestSpeech = Duration.milliseconds(35)
    /// The number of decibels by which speech that goes on may lie below the threshold.
    private static let hysteresis: Float = 3
    /// The longest time for which one level stands. A longer gap is a pause of the capture.
    private static let longestStep = Duration.milliseconds(100)

    public init(_ settings: Settings = Settings()) { self.settings = settings }

    /// The level above which speech begins.
    public var threshold: Level {
        let above = max(floor.level + settings.margin, usual.level + max(6, 2.5 * usual.deviation))
        return max(Level(decibels: above), settings.lowestSpeech)
    }

    /// Takes the level at `now`; call it every 10 to 60 ms. Returns whether `isOpen` has changed.
    public mutating func append(_ level: Level, at now: Instant) -> Bool {
        let level = level.decibels.isNaN ? .floor : level
        guard !silence.isFault(level, at: now) else {
            loudTime = .zero
            if let previous = last {
                let step = min(max(now - previous, .zero), Self.longestStep)
                last = now
                // The noise that was learnt stays, and is not forgotten for what is said between silences.
                floor.append(floor.level, lasting: step, at: now)
                if !isOpen { usual.append(floor.level, lasting: step) }
            }
            return close(at: now)
        }
        guard let previous = last else {
            (last, start) = (now, now)
            floor.reset(to: level.decibels, at: now)
            usual.reset(to: level.decibels)
            return false
        }
        last = now
        let step = min(max(now - previous, .zero), Self.longestStep)
        let threshold = threshold
        floor.append(level.decibels, lasting: step, at: now)
        let wasOpen = isOpen
        if level > (isOpen ? Level(decibels: threshold.decibels - Self.hysteresis) : threshold) {
            loudTime += step
            if isOpen || loudTime >= Self.shortestSpeech && now - start >= Self.learningTime {
                isOpen = true
                lastSpeech = now
            }
        } else {
            loudTime = .zero
            if !isOpen { usual.append(level.decibels, lasting: step) }
        }
        usual.raise(to: floor.level)
        _ = close(at: now)
        return isOpen != wasOpen
    }

    /// Closes if the hang time is over. Returns whether it was open until now.
    private mutating func close(at now: Instant) -> Bool {
        guard isOpen, now - lastSpeech >= settings.hang else { return false }
        isOpen = false
        return true
    }
}

/// Tells the digital silence of a microphone with a noise gate, which is its noise, from that of a card that starts or
/// is gone, after which the room's noise would be taken for speech.
private struct DigitalSilence {
    private var begin: Instant?
    private var hasHeardSound = false
    private var isGate = false

    /// A card that starts has sound after this time.
    private static let startTime = Duration.seconds(1)

    mutating func isFault(_ level: Level, at now: Instant) -> Bool {
        guard level <= .floor else {
            hasHeardSound = true
            return false
        }
        guard !isGate, !hasHeardSound else { return !isGate }
        begin = begin ?? now
        isGate = begin.map { now - $0 >= Self.startTime } ?? false
        return !isGate
    }
}

/// The quietest level of the last four seconds, of audio that is smoothed over 50 ms. In decibels.
private struct NoiseFloor {
    private var smoothed: Float = 0
    /// The quietest level of each half second.
    private var quietest = InlineArray<8, Float>(repeating: 0)
    private var current = 0
    private var end = Instant.start

    private static let step = Duration.milliseconds(500)
    private static let timeConstant = 0.05

    var level: Float {
        var level = quietest[0]
        for index in quietest.indices { level = min(level, quietest[index]) }
        return level
    }

    mutating func reset(to level: Float, at now: Instant) {
        smoothed = level
        for index in quietest.indices { quietest[index] = level }
        end = now + Self.step
    }

    mutating func append(_ level: Float, lasting step: Duration, at now: Instant) {
        smoothed += (level - smoothed) * Float(min(step / .seconds(1) / Self.timeConstant, 1))
        if now >= end {
            end = now + Self.step
            current = (current + 1) % quietest.count
            quietest[current] = smoothed
        }
        quietest[current] = min(quietest[current], smoothed)
    }
}

/// The usual level while nobody talks, and its mean deviation, over about two seconds. In decibels.
private struct UsualLevel {
    private(set) var level: Float = 0
    private(set) var deviation: Float = 0

    private static let timeConstant = 2.0

    mutating func reset(to level: Float) { (self.level, deviation) = (level, 0) }

    mutating func append(_ level: Float, lasting step: Duration) {
        let share = Float(step / .seconds(1) / Self.timeConstant)
        deviation += ((level - self.level).magnitude - deviation) * share
        self.level += (level - self.level) * share
    }

    /// The noise has risen while somebody seemed to talk.
    mutating func raise(to floor: Float) { level = max(level, floor) }
}
