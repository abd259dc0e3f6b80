internal import TenfourAudioCore

/// Makes sound longer or shorter and leaves its pitch: by leaving stretches out or playing them twice, each faded into what
/// follows.
///
/// What is given is a copy of what came, but for the fades; so at tempo 1 it is the very same. A splice is planned as the sound
/// goes: place and length are chosen together, from all places of the next 20 ms and all lengths that keep time within bounds,
/// so that what fades into each other is as alike as can be for what the splice gains.
struct TimeStretcher: ~Copyable, Sendable {
    let channelCount: Int
    /// Frames of input that pass in a frame of output: 1⁄16…128.
    var tempo = 1.0 {
        didSet {
            guard tempo != oldValue else { return }
            // What was planned is planned anew; a fade that has begun is finished.
            copyCount = 0
            if faded == 0 { jump = 0 }
            let bound = Double(lengths.bound(at: tempo))
            drift = min(max(drift, -bound), bound)
        }
    }

    private let lengths: TimeStretcherLengths
    private var input: TimeStretcherInput
    /// Where in `input` the next frame comes from.
    private var place = 0
    /// Frames of input that were forgotten.
    private var base = 0
    /// How far that is ahead of where it should be, in frames of input.
    private var drift = 0.0
    /// Frames to copy before the fade that is planned, or before it is looked again.
    private var copyCount = 0
    /// The fade's length of input left out (below zero: played again), where one is planned or under way.
    private var jump = 0
    /// Frames of the fade that are behind.
    private var faded = 0

    init(channelCount: Int, lengths: TimeStretcherLengths) {
        self.channelCount = channelCount
        self.lengths = lengths
        input = TimeStretcherInput(channelCount: channelCount, lengths)
    }

    /// Frames that were taken.
    var taken: Int { base + input.count }
    /// Where in what was taken the frame lies that is given next.
    var position: Double { Double(base + place) + (faded > 0 ? Double(jump) * Double(fadeWeight) : 0) }

    /// All that was taken was given.
    var isEmpty: Bool { place >= input.count }

    /// How many frames of input are missing before the next frame of output can be given; zero when it can.
    var need: Int {
        if copyCount > 0 { return max(place + 1 - input.count, 0) }
        if isFadePlanned { return max(fadeEnd - input.count, 0) }
        return max(place + (tempo == 1 ? 1 : lengths.view(at: tempo)) - input.count, 0)
    }

    mutating func clear() {
        input.removeAll()
        (place, base, drift, copyCount, jump, faded) = (0, 0, 0, 0, 0, 0)
    }

    /// Takes frames of `samples` from `start` on, as many as there is room for. Returns how many.
    mutating func take(_ samples: Span<Float>, from start: Int, atMost count: Int) -> Int {
        let forgotten = input.forget(before: place)
        place -= forgotten
        base += forgotten
        return input.append(samples, from: start, atMost: count)
    }

    /// Gives the next frames into `sound` until so many are given or input is missing; `isLast` says that no more comes.
    /// Returns how many.
    mutating func give(_ count: Int, to sound: inout PitchShifterInput, isLast: Bool) -> Int {
        var given = 0
        while given < count {
            if copyCount > 0 {
                let frames = min(min(copyCount, count - given), input.count - place)
                guard frames > 0 else { break }
                copy(frames, to: &sound)
                given += frames
            } else if isFadePlanned {
                guard fadeEnd <= input.count else { break }
                fade(to: &sound)
                given += 1
            } else if !plan(isLast: isLast) {
                break
            }
        }
        return given
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

    /// Says what comes next. False when more input is needed for that, or when there is none.
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
        let latest = min(max(Int((bound + ahead) / slope), 0), lengths.look)
        if let splice = input.splice(at: place, latest: latest, drift: drift, tempo: tempo, lengths) {
            copyCount = splice.wait
            jump = splice.jump
        } else if isLast, waiting < lengths.view(at: tempo), let last = lastJump(waiting) {
            jump = last
        } else {
            // There is too little to repeat yet, or to leave out.
            copyCount = min(max(latest, 1), lengths.pace, waiting)
        }
        return true
    }

    /// Near its end there is too little sound to choose from: what is too much of it is left out at once.
    private func lastJump(_ waiting: Int) -> Int? {
        let most = waiting - max(Int(Double(waiting) / tempo), lengths.fade + 1)
        guard tempo > 1, most >= lengths.shortest else { return nil }
        return input.bestJump(at: place, among: max(most - lengths.longest, lengths.shortest)...most, lengths.fade)
    }
}
