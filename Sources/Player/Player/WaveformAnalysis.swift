internal import Glibc
internal import Synchronization
internal import TenfourAudioCore
internal import TenfourAudioFile
internal import TenfourClocks
internal import TenfourMediaSource
internal import TenfourSystem
internal import TenfourWaveform

/// Makes the waveform of the item that the worker reads, on a thread of low priority.
///
/// Nothing is fetched for it. A local file is read from its start to its end, ahead of playback. A download is decoded a
/// second time as its bytes arrive, as far as they are kept; after a seek, what is heard from there on. Of other
/// sources, such as segments, the audio that is decoded for playback is taken (`WaveformTap`), at the output's rate.
final class WaveformAnalysis: Sendable {
    /// An item whose waveform is made.
    struct Job: Sendable {
        /// The item's number, which it keeps when the queue is edited.
        var number: Int
        var item: QueueItem
        var byteSource: any ByteSource
        /// The identity that tells the item from others; nil if it cannot be found again.
        var identity: MediaIdentity?
    }

    let barCount: Int
    private let opener: any QueueItemOpener
    private let store: (any WaveformStore)?
    /// Returns the position that is heard.
    private let position: @Sendable () -> Duration
    private let wakeup: WakeupPipe
    private let contents = Locked(Contents())
    /// The number of the job whose samples are taken from playback; 0 for none.
    private let tapped = Atomic(0)

    private struct Contents {
        var job: Job?
        /// The number of jobs so far, which tells a job from its successors.
        var serial = 0
        /// The serial of the last job that needs no more work.
        var finished = 0
        /// The reader's view of the bytes, which may be waiting for more.
        var bytes: PeekingByteSource?
        var progress: WaveformProgress?
        /// The waveform of the item before, which is heard until the audio in the ring has been played.
        var before: (number: Int, progress: WaveformProgress)?
        var isWanted = true
        var isOver = false
    }

    /// The time between two reports of what is known.
    static let reportInterval = Duration.milliseconds(100)
    /// The pause, in milliseconds, between two looks at whether other parts of a download have arrived.
    private static let lookInterval: Int32 = 500
    /// The number of blocks that were read before after which reading on from there is given up.
    private static let maximumRepetition = 100

    init(
        barCount: Int, _ opener: any QueueItemOpener, store: (any WaveformStore)?,
        position: @escaping @Sendable () -> Duration
    ) throws(StreamError) {
        guard let wakeup = try? WakeupPipe() else {
            throw .unusable("too many files are open: raise `ulimit -n`", kind: .resourcesExhausted)
        }
        self.wakeup = wakeup
        self.barCount = min(max(barCount, BarReduction.barCounts.lowerBound), BarReduction.barCounts.upperBound)
        self.opener = opener
        self.store = store
        self.position = position
    }

    /// Returns an analysis if the configuration asks for one. It does not keep the controller alive.
    static func make(
        _ configuration: StreamerConfiguration, _ opener: any QueueItemOpener, _ controller: PlaybackController
    ) throws(StreamError) -> WaveformAnalysis? {
        guard let count = configuration.waveformBarCount else { return nil }
        return try WaveformAnalysis(barCount: count, opener.withoutGain, store: configuration.waveformStore) {
            [weak controller] in controller?.progress.position.value ?? .zero
        }
    }

    /// Whether somebody looks at the waveform. For any thread.
    var isWanted: Bool {
        get { contents.withLock(\.isWanted) }
        set {
            contents.withLock { $0.isWanted = newValue }
            wakeup.signal()
        }
    }

    /// Returns the waveform of the item with this number; nil if it is not known. For any thread.
    func progress(of number: Int) -> WaveformProgress? {
        contents.withLock { contents in
            if contents.job?.number == number { return contents.progress }
            return contents.before?.number == number ? contents.before?.progress : nil
        }
    }

    // MARK: The worker's thread

    /// Begins the waveform of another item, or goes on if it is the same one again.
    func begin(_ job: Job) {
        contents.withLock { contents in
            // With the lock held, so that the job before cannot set it again.
            tapped.store(0, ordering: .relaxed)
            contents.serial += 1
            if let before = contents.job, before.number != job.number, let progress = contents.progress {
                contents.before = (before.number, progress)
            }
            let isSame = job.identity != nil && contents.job?.identity == job.identity
            let isKept = isSame && contents.progress?.isExact == true
            contents.job = job
            if isKept { contents.finished = contents.serial } else { contents.progress = nil }
            contents.bytes?.interrupt()
            contents.bytes = nil
        }
        wakeup.signal()
    }

    /// Ends the thread.
    func end() {
        contents.withLock { contents in
            contents.isOver = true
            contents.bytes?.interrupt()
        }
        wakeup.signal()
    }

    /// The number of the job that needs the samples of playback; nil if none does.
    var tappedJob: Int? {
        let serial = tapped.load(ordering: .relaxed)
        return serial > 0 ? serial : nil
    }

    /// Sets what is known of a job's waveform.
    func report(_ progress: WaveformProgress, of serial: Int) {
        contents.withLock { if $0.serial == serial { $0.progress = progress } }
    }

    // MARK: The thread

    func run() {
        // The priority of this thread alone. The C function is `setpriority`.
        _ = setpriority(Int32(PRIO_PROCESS.rawValue), 0, 10)
        while true {
            let (job, serial, isOver) = contents.withLock { contents in
                let isDue = contents.isWanted && contents.finished < contents.serial
                return (isDue ? contents.job : nil, contents.serial, contents.isOver)
            }
            if isOver { return }
            guard let job else {
                wakeup.wait(atMost: -1)
                continue
            }
            analyse(job, serial)
            contents.withLock { contents in
                // A waveform that nobody wants at present is made when it is wanted again.
                if contents.isWanted { contents.finished = max(contents.finished, serial) }
            }
        }
    }

    private func isCurrent(_ serial: Int) -> Bool {
        contents.withLock { $0.serial == serial && $0.isWanted && !$0.isOver }
    }

    private func analyse(_ job: Job, _ serial: Int) {
        guard !job.byteSource.state.isLive else { return }
        // The program's own readers may make other audio of the bytes.
        if opener.hasOwnReaders {
            _ = tap(serial)
            return
        }
        // The time of the last change tells whether a file is the one that was seen before; an address has none.
        let identity = job.identity.flatMap { $0.modified == nil ? nil : $0 }
        if let identity, var kept = store?.waveform(of: identity, barCount: barCount) {
            if let path = path(of: job) { kept.markedRanges = Self.marks(ofFileAt: path, rate: kept.rate) }
            return report(kept, of: serial)
        }
        guard let progress = read(job, serial), progress.isExact, let identity else { return }
        store?.keep(progress, of: identity, barCount: barCount)
    }

    /// Reads the item. Returns its waveform if it was read to its end.
    private func read(_ job: Job, _ serial: Int) -> WaveformProgress? {
        guard let base = job.byteSource as? any PeekableByteSource, let bytes = try? PeekingByteSource(base),
            attach(bytes, serial)
        else {
            return tap(serial)
        }
        guard case .media(let reader)? = try? opener.open(bytes, of: job.item, as: nil) else { return tap(serial) }
        var audio = ReaderAudio(reader: reader)
        let marks = path(of: job).map { Self.marks(ofFileAt: $0, rate: audio.format.rate) } ?? []
        guard var progress = readReader(&audio, marks, serial) else { return nil }
        // Reads again if the length was unknown, since it is known now, and if everything is still there.
        if !progress.isExact, progress.readShare >= 1, isAllHere(job),
            case .media(let again)? = try? opener.open(bytes, of: job.item, as: nil),
            let second = readAgain(ReaderAudio(reader: again), progress, marks, serial)
        {
            progress = second
        }
        return progress
    }

    /// The path of a local file that is played whole, and may have marks of lost audio.
    private func path(of job: Job) -> String? {
        guard job.item.part == nil, job.item.fileType == nil, job.byteSource is FileByteSource,
            case .file(let path)? = job.byteSource.state.resource
        else { return nil }
        return path
    }

    private func attach(_ bytes: PeekingByteSource, _ serial: Int) -> Bool {
        contents.withLock { contents in
            guard contents.serial == serial, !contents.isOver else { return false }
            contents.bytes = bytes
            return true
        }
    }

    private func tap(_ serial: Int) -> WaveformProgress? {
        contents.withLock { if $0.serial == serial { tapped.store(serial, ordering: .relaxed) } }
        return nil
    }

    private func isAllHere(_ job: Job) -> Bool {
        let state = job.byteSource.state
        return state.phase == .ended && state.held == 0..<(state.byteCount ?? 0)
    }
}

// MARK: Passes
extension WaveformAnalysis {
    private static func marks(ofFileAt path: String, rate: SampleRate) -> [MarkedRange] {
        WAVMarks(ofFileAt: path).ranges.map {
            MarkedRange($0.lowerBound.duration(at: rate)..<$0.upperBound.duration(at: rate))
        }
    }

    private func readAgain(
        _ audio: ReaderAudio, _ first: WaveformProgress, _ marks: [MarkedRange], _ serial: Int
    ) -> WaveformProgress? {
        var audio = audio
        let known = first.partialBars.bars.frameCount
        guard let second = readToEnd(&audio, expecting: known, marks, serial), second.isExact
        else { return nil }
        report(second, of: serial)
        return second
    }

    /// Reads from the start to the end. Returns nil if something else is to be done. An error ends the audio, as it ends
    /// playback.
    private func readToEnd(
        _ source: inout ReaderAudio, expecting expected: FrameCount?, _ marks: [MarkedRange], _ serial: Int
    ) -> WaveformProgress? {
        var pass = WaveformPass(barCount: barCount, format: source.format, expecting: expected)
        while (try? pass.read(&source)) == true {
            guard isCurrent(serial) else { return nil }
            pass.rest()
        }
        guard isCurrent(serial) else { return nil }
        var progress = pass.progress(of: nil)
        progress.markedRanges = marks
        return progress
    }

    /// Reads what has arrived of the item, in the order in which it arrives, until all of it has been read. Returns nil if
    /// something else is to be done.
    private func readReader(
        _ audio: inout ReaderAudio, _ marks: [MarkedRange], _ serial: Int
    ) -> WaveformProgress? {
        var pass = WaveformPass(barCount: barCount, format: audio.format, expecting: audio.frameCount)
        var reported = Instant.start
        var repeated = 0
        var hasJumped = false
        while true {
            let outcome = Self.read(&audio, &pass)
            guard isCurrent(serial) else { return nil }
            let isWhole = outcome == .ended && !hasJumped
            if outcome != .read || MonotonicClock.now - reported >= Self.reportInterval {
                reported = MonotonicClock.now
                var progress = pass.progress(of: isWhole ? nil : audio.frameCount)
                progress.markedRanges = marks
                report(progress, of: serial)
                if isWhole || hasJumped && progress.readShare >= 1 { return progress }
            }
            repeated = outcome == .read && pass.reduction.isRepeating ? repeated + 1 : 0
            if outcome != .read || repeated > Self.maximumRepetition {
                guard jump(in: audio, &pass, serial) else { return nil }
                (hasJumped, repeated) = (true, 0)
            }
            pass.rest()
        }
    }

    private enum Outcome { case read, ended, missing }

    /// Reads a block. Damage ends the audio, as it ends playback.
    private static func read(_ audio: inout ReaderAudio, _ pass: inout WaveformPass) -> Outcome {
        do throws(ReaderError) { return try pass.read(&audio) ? .read : .ended } catch {
            if case .demuxer(.byteSource) = error { return .missing } else { return .ended }
        }
    }

    /// Waits until a part is heard that was not read, and seeks to it. Returns false if something else is to be done.
    private func jump(in audio: ReaderAudio, _ pass: inout WaveformPass, _ serial: Int) -> Bool {
        while true {
            wakeup.wait(atMost: Self.lookInterval)
            guard isCurrent(serial) else { return false }
            let position = position()
            pass.move(to: position)
            guard !pass.reduction.isRepeating, let reached = try? audio.reader.seek(to: position) else { continue }
            pass.move(to: reached.value)
            return true
        }
    }
}
