internal import Glibc
internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourSystem

/// A piece of received audio for the recorder thread.
struct RecordedAudio: BitwiseCopyable, Sendable {
    var count = 0
    /// The number of concealed frames at the start of the piece.
    var concealedAhead = 0
    /// The number of concealed frames directly before the piece.
    var concealedBehind = 0
    var samples = InlineArray<480, Float>(repeating: 0)
}

/// Writes received audio to a file or a closure, on a thread that may block.
struct Recorder: ~Copyable, Sendable {
    /// The number of pieces that the ring buffer between the playback thread and the recorder thread holds, by default for
    /// two seconds. A piece contains a period of the card, or as much of the period as fits.
    static func capacity(period: Duration, format: LPCMFormat, seconds: Double = 2.5) -> Int {
        let full = Double(RecordedAudio().samples.count) / Double(format.rate.hertz * format.channelCount)
        return Int(seconds / min(period / .seconds(1), full))
    }

    /// The time for which the disk may be busy without a gap in the recording. A slow card needs seconds for a `fsync`.
    static let longestWrite = 10.0

    private var file: AudioFileWriter?
    private let closure: (@Sendable ([Float], LPCMFormat) -> Void)?
    private let format: LPCMFormat
    private let pieces: RingBufferConsumer<RecordedAudio>
    private var piece = RecordedAudio()
    private var position = FrameCount.zero
    private let failed: @Sendable (RadioError) -> Void

    private static let interval: UInt32 = 20_000
    /// The number of intervals after which the audio is brought to the disk: 2 s, so that a power cut takes less than five.
    private static let synchronizationInterval = 100

    /// Creates a recorder that writes to a file or to a closure, in `format`.
    init(
        file: consuming AudioFileWriter?, closure: (@Sendable ([Float], LPCMFormat) -> Void)?, format: LPCMFormat,
        _ pieces: consuming RingBufferConsumer<RecordedAudio>, failed: @escaping @Sendable (RadioError) -> Void
    ) {
        self.file = file
        self.closure = closure
        self.format = format
        self.pieces = pieces
        self.failed = failed
    }

    /// Runs until the playback thread has ended and the remaining audio is written, or until writing fails.
    consuming func run(until isOver: () -> Bool) {
        blockBrokenPipes()
        do throws(AudioFileError) {
            var isLast = false
            var round = 0
            while !isLast {
                isLast = isOver()
                try write(gather(), unless: isOver)
                round += 1
                if round % Self.synchronizationInterval == 0 { try file?.synchronize() }
                if !isLast { usleep(Self.interval) }
            }
            try file?.close()
        } catch {
            failed(RadioError(.failure, error.description))
        }
    }

    /// Returns all audio since the last call.
    private mutating func gather() -> [Float] {
        var samples: [Float] = []
        while pieces.pop(into: &piece) {
            mark()
            for index in 0..<piece.count { samples.append(piece.samples[index]) }
        }
        return samples
    }

    /// Marks concealed audio in the file.
    private mutating func mark() {
        let (before, behind) = (FrameCount(piece.concealedBehind), FrameCount(piece.concealedAhead))
        if before > .zero { file?.marks.add(max(position - before, .zero)..<position) }
        if behind > .zero { file?.marks.add(position..<position + behind) }
        position += FrameCount(piece.count / format.channelCount)
    }

    private mutating func write(_ samples: [Float], unless isOver: () -> Bool) throws(AudioFileError) {
        guard !samples.isEmpty else { return }
        closure?(samples, format)
        try file?.write(samples.span, unless: isOver)
    }

    /// Blocks SIGPIPE, so that a pipe whose reader has ended causes an error of `write` on this thread and does not end
    /// the process.
    private func blockBrokenPipes() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
