internal import Glibc
internal import Synchronization
internal import TenfourAudioCore
internal import TenfourSoundCard
internal import TenfourSystem
internal import TenfourTransmissions

/// The thread that decodes what is replayed, for the loudspeaker.
struct ReplayLoop: ~Copyable, Sendable {
    private let replays: Replays
    private let controls: Controls
    private let pieces: RingBufferProducer<RecordedAudio>
    private var decoder: ReplayDecoder
    private var piece = RecordedAudio()
    private var producedCount = 0

    /// The number of pieces between this thread and the card's: at least 80 ms.
    static let pieceCount = 16
    private static let interval: UInt32 = 2_000
    /// The maximum number of times that this thread looks whether a card that may be lost has taken the last audio.
    private static let maximumWaitCount = 500

    init(
        _ replays: Replays, _ controls: Controls, format: LPCMFormat,
        to pieces: consuming RingBufferProducer<RecordedAudio>
    ) throws(RadioError) {
        decoder = try ReplayDecoder(format: format)
        self.replays = replays
        self.controls = controls
        self.pieces = pieces
    }

    /// Runs until the session is to end.
    consuming func run() {
        while !controls.stops {
            if let order = replays.nextOrder() { play(order) }
        }
    }

    private mutating func play(_ order: consuming Replays.Order) {
        guard isWanted(order.number) else { return replays.post(.ended) }
        let selected =
            switch order.range {
            case .lastTransmission: order.history.lastTransmission(at: order.time)
            case .lastMinute: order.history.last(ReplayRange.minute, at: order.time)
            }
        let (number, rate) = (order.number, order.range.rate)
        guard let replay = selected else { return replays.post(.nothing) }
        replays.post(.began(transmissionCount: replay.transmissionCount, duration: replay.duration / rate))
        replays.begin(number)
        decoder.begin(replay, rate: rate)
        while isWanted(number), let count = decoder.next(), push(count, number) {}
        waitForCard(number)
        replays.end()
        // Discards what the card has not taken while it fades out, before another replay begins.
        waitForCard(nil)
        replays.post(.ended)
    }

    private func isWanted(_ number: UInt32) -> Bool { !controls.stops && replays.isCurrent(number) }

    /// Passes on the first `count` decoded samples. Returns false if the replay was stopped.
    private mutating func push(_ count: Int, _ number: UInt32) -> Bool {
        var start = 0
        while start < count {
            piece.count = min(count - start, piece.samples.count)
            for index in 0..<piece.count { piece.samples[index] = decoder.output[start + index] }
            while !pieces.push(piece) {
                guard isWanted(number) else { return false }
                usleep(Self.interval)
            }
            producedCount &+= piece.count
            start += piece.count
        }
        return true
    }

    /// Waits until the card has taken all audio. Returns earlier if `number` is no longer wanted, or after a second: the
    /// card may be lost.
    private func waitForCard(_ number: UInt32?) {
        for _ in 0..<Self.maximumWaitCount {
            if controls.stops || number.map({ !replays.isCurrent($0) }) ?? false { return }
            if replays.consumedCount.load(ordering: .acquiring) == producedCount { return }
            usleep(Self.interval)
        }
    }
}
