internal import Sound
internal import SoundCard
internal import SoundFile

/// Where sound to be sent comes from: a card, which keeps its own time, or a file or pipe, which the clock paces.
struct CaptureInput: ~Copyable, Sendable {
    enum Turn {
        /// So much sound, `after` so much that is missing because the source gave nothing for a while.
        case captured(FrameCount, after: FrameCount)
        case interrupted(Interruption)
        case ended
        case failed(RadioError)
    }

    let format: LPCMFormat
    /// How the card was opened; nil for a file.
    let granted: GrantedSound?
    /// Whether it may be held for ever by a pipe that gives nothing and does not end.
    let mayHang: Bool
    /// What the last turn captured, from the front.
    private(set) var sound: Preallocated<Float>

    private var card: CaptureCard?
    private var file: SoundFileReader?
    private let given: SoundInput?
    private var metronome: Metronome
    /// What a file gave, in its own channels.
    private var read: Preallocated<Float>
    private let readChannelCount: Int

    /// `frame` is the length of a packet: the card wakes us when so much is there, and no sooner.
    init(card name: String, channelCount: Int, frame: Duration) throws(RadioError) {
        let wanted = FrameCount(min(frame, .milliseconds(20)))
        do {
            let card = try CaptureCard(device: name, format: LPCMFormat(channelCount: channelCount), period: wanted)
            granted = card.granted
            format = card.granted.format
            sound = Preallocated(repeating: 0, count: card.frame.rawValue * channelCount)
            read = Preallocated(repeating: 0, count: 1)
            readChannelCount = channelCount
            metronome = Metronome(rate: card.granted.format.rate)
            mayHang = false
            self.card = consume card
            file = nil
            given = nil
        } catch {
            throw RadioError(.unavailable, error.description)
        }
    }

    /// A file or a pipe, read a frame at a time. A live pipe keeps its own pace, a file is held to the clock's. Without
    /// `raw` a file without a header is refused. Mixed to `channelCount` where it has others.
    init(file path: String, raw: RawFormat?, channelCount: Int, frame: Duration) throws(RadioError) {
        do {
            let reader = try SoundFileReader(path: path, rawFormat: raw)
            granted = nil
            format = LPCMFormat(rate: reader.format.rate, channelCount: channelCount)
            let frames = FrameCount(min(frame, .milliseconds(20)), at: reader.format.rate)
            sound = Preallocated(repeating: 0, count: frames.rawValue * channelCount)
            read = Preallocated(repeating: 0, count: frames.rawValue * reader.format.channelCount)
            readChannelCount = reader.format.channelCount
            metronome = Metronome(rate: reader.format.rate)
            mayHang = reader.frameCount == nil
            file = consume reader
            card = nil
            given = nil
        } catch {
            throw RadioError(.unavailable, error.description)
        }
    }

    /// What a program gives, held to the clock's pace as a file is.
    init(_ sound: SoundInput, channelCount: Int, frame: Duration) {
        granted = nil
        format = LPCMFormat(rate: sound.format.rate, channelCount: channelCount)
        let frames = FrameCount(min(frame, .milliseconds(20)), at: sound.format.rate)
        self.sound = Preallocated(repeating: 0, count: frames.rawValue * channelCount)
        read = Preallocated(repeating: 0, count: frames.rawValue * sound.format.channelCount)
        readChannelCount = sound.format.channelCount
        metronome = Metronome(rate: sound.format.rate)
        mayHang = false
        card = nil
        file = nil
        given = sound
    }

    mutating func next() -> Turn {
        switch Self.read(&card, into: &sound) {
        case .captured: return .captured(FrameCount(sound.count / format.channelCount), after: .zero)
        case .interrupted(let interruption): return .interrupted(interruption)
        case .none: break
        }
        do {
            let frames = try Self.read(given, or: &file, into: &read)
            guard frames > .zero else { return .ended }
            mix(frames.rawValue)
            let beat = metronome.wait(for: frames.rawValue)
            return .captured(frames, after: beat.missed)
        } catch {
            return .failed(error)
        }
    }

    /// To one channel as the mean of all; to two as the first two, or the one there is twice.
    private mutating func mix(_ frames: Int) {
        let (from, to) = (readChannelCount, format.channelCount)
        for frame in 0..<frames {
            if to == 1 {
                var sum: Float = 0
                for channel in 0..<from { sum += read[frame * from + channel] }
                sound[frame] = sum / Float(from)
            } else {
                for channel in 0..<to { sound[frame * to + channel] = read[frame * from + min(channel, from - 1)] }
            }
        }
    }

    /// Vetted: nothing is freed here, though the compiler takes the end of a Span's life for that.
    @_semantics("no_performance_analysis")
    private static func read(_ card: inout CaptureCard?, into sound: inout Preallocated<Float>) -> CaptureTurn? {
        var room = sound.mutableSpan
        return card?.read(into: &room)
    }

    private static func read(
        _ given: SoundInput?, or file: inout SoundFileReader?, into sound: inout Preallocated<Float>
    ) throws(RadioError) -> FrameCount {
        var room = sound.mutableSpan
        if let given { return try given.read(&room) }
        do throws(SoundFileError) {
            return try file?.read(into: &room) ?? .zero
        } catch {
            throw RadioError(.failure, error.description)
        }
    }
}
