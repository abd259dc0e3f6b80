internal import TenfourAudioCore

/// Changes the duration without the pitch (WSOLA): omits or repeats segments, cross-fading at each splice.
///
/// Between splices the output is a copy of the input, so at tempo 1 output and input are equal. A splice is planned
/// during playback: its position and length are chosen together, among all positions of the next 20 ms and all lengths
/// that keep the timing within bounds, for the best similarity per amount of time gained.
struct TimeStretcher: ~Copyable, Sendable {
    let channelCount: Int
    /// The number of input frames per output frame, 1⁄16…128.
    var tempo = 1.0 {
        didSet {
            guard tempo != oldValue else { return }
            // A splice that has not begun is planned again; a cross-fade that has begun is completed.
            copyCount = 0
            if faded == 0 { jump = 0 }
            let bound = Double(lengths.bound(at: tempo))
            drift = min(max(drift, -bound), bound)
        }
    }

    private let lengths: TimeStretcherLengths
    private var input: TimeStretcherInput
    /// The index in `input` of the next frame to render.
    private var place = 0
    /// The number of input frames dropped from the front of `input`.
    private var base = 0
    /// The difference between the present position and the position by exact timing, in input frames; positive if the
    /// present position is ahead.
    private var drift = 0.0
    /// The number of frames to copy before the planned cross-fade or, if none is planned, before the next attempt to
    /// plan one.
    private var copyCount = 0
    /// The number of input frames that the planned or present splice omits (negative: repeats); 0 without a splice.
    private var jump = 0
    /// The number of frames of the present cross-fade rendered so far.
    private var faded = 0

    init(channelCount: Int, lengths: TimeStretcherLengths) {
        self.channelCount = channelCount
        self.lengths = lengths
        input = TimeStretcherInput(channelCount: channelCount, lengths)
    }

    /// The number of frames appended so far.
    var appendedCount: Int { base + input.count }
    /// The position in the input, in frames, of the next output frame.
    var position: Double { Double(base + place) + (faded > 0 ? Double(jump) * Double(fadeWeight) : 0) }

    /// Whether all appended frames have been rendered.
    var isEmpty: Bool { place >= input.count }

    /// The number of input frames needed before the next output frame can be rendered.
    var framesNeeded: Int {
        if copyCount > 0 { return max(place + 1 - input.count, 0) }
        if isFadePlanned { return max(fadeEnd - input.count, 0) }
        return max(place + (tempo == 1 ? 1 : lengths.view(at: tempo)) - input.count, 0)
    }

    mutating func clear() {
        input.removeAll()
        (place, base, drift, copyCount, jump, faded) = (0, 0, 0, 0, 0, 0)
    }

    /// Appends frames of `samples` from `start` on, as many as fit and at most `count`. Returns the number of frames
    /// appended.
    mutating func append(_ samples: Span<Float>, from start: Int, atMost count: Int) -> Int {
        let discarded = input.discard(before: place)
        place -= discarded
        base += discarded
        return input.append(samples, from: start, atMost: count)
    }

    /// Renders up to `count` frames into `sound`, fewer if input is missing. `isLast` is true if no more input follows.
    /// Returns the number of frames rendered.
    mutating func render(_ count: Int, to sound: inout PitchShifterInput, isLast: Bool) -> Int {
        var rendered = 0
        while rendered < count {
            if copyCount > 0 {
                let frames = min(min(copyCount, count - rendered), input.count - place)
                guard frames > 0 else { break }
                copy(frames, to: &sound)
                rendered += frames
            } else if isFadePlanned {
                guard fadeEnd <= input.count else { break }
                fade(to: &sound)
                rendered += 1
            } else if !plan(isLast: isLast) {
                break
            }
        }
        return rendered
    }

    private var isFadePlanned: Bool { jump != 0 }
    private var fadeEnd: Int { place + max(jump, 0) + lengths.fade - faded }
    private var fadeWeight: Float { (Float(faded) + 0.5) / Float(lengths.fade) }

    private mutating func copy(_ count: Int, to sound: inout PitchShifterInput) {
        for frame in 0..<count {
            sound.beginFrame(at: Double(base + place + frame))
            for channel in 0..<channelCount { sound.append(input.samples[(place + frame) * channelCount + channel]) }
        }
        place += count
        copyCount -= count
        drift = tempo == 1 ? 0 : drift + Double(count) * (1 - tempo)
    }

    private mutating func fade(to sound: inout PitchShifterInput) {
        let weight = fadeWeight
        sound.beginFrame(at: Double(base + place) + Double(jump) * Double(weight))
        for channel in 0..<channelCount {
            let one = input.samples[place * channelCount + channel]
            let other = input.samples[(place + jump) * channelCount + channel]
            sound.append(one + (other - one) * weight)
        }
        place += 1
        faded += 1
        drift += 1 - tempo
        guard faded == lengths.fade else { return }
        place += jump
        drift += Double(jump)
        (jump, faded) = (0, 0)
    }

    /// Plans the next copy or splice. Returns false if more input is needed, or no input is left.
    private mutating func plan(isLast: Bool) -> Bool {
        let waiting = input.count - place
        guard waiting > 0 else { return false }
        if tempo == 1 {
            copyCount = waiting
            return true
        }
        guard isLast || waiting >= lengths.view(at: tempo) else { return false }
        let slope = abs(1 - tempo)
        let bound = Double(lengths.bound(at: tempo))
        let ahead = tempo > 1 ? drift : -drift
        let early = Int((ahead + Double(lengths.choice(at: tempo)) - bound) / slope)
        if early > 0 {
            copyCount = min(early, waiting)
            return true
        }
        let latest = min(max(Int((bound + ahead) / slope), 0), lengths.searchLength)
        if let splice = input.splice(at: place, latest: latest, drift: drift, tempo: tempo, lengths) {
            copyCount = splice.wait
            jump = splice.jump
        } else if isLast, waiting < lengths.view(at: tempo), let last = lastJump(waiting) {
            jump = last
        } else {
            // Copies audio without a splice, since there is too little audio so far to repeat or omit a segment.
            copyCount = min(max(latest, 1), lengths.pace, waiting)
        }
        return true
    }

    /// Returns the number of frames to omit near the end of the input, where too little audio is left for a search; nil
    /// if no splice is possible.
    private func lastJump(_ waiting: Int) -> Int? {
        let most = waiting - max(Int(Double(waiting) / tempo), lengths.fade + 1)
        guard tempo > 1, most >= lengths.shortest else { return nil }
        return input.bestJump(at: place, among: max(most - lengths.longest, lengths.shortest)...most, lengths.fade)
    }
}
