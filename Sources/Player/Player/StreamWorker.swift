internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourRings
internal import TenfourThreads
internal import TenfourTimePitch

/// Opens, reads and decodes items and fills the ring. Has its own thread, which may block while it waits for bytes.
final class StreamWorker {
    private let controller: PlaybackController
    private let opener: any QueueItemOpener
    /// The format of the output.
    private let format: LPCMFormat
    /// The renderer of an output file, which runs on this thread.
    private var renderer: FileRenderer?
    private var filler: BufferFiller
    private var source: Source?
    /// The next item and its source, which is being prefetched.
    private var next: (item: QueueItem, byteSource: any ByteSource)? {
        didSet { mailbox.attach(ahead: next?.byteSource) }
    }
    /// The number of frames pushed into the ring since the track, duration and bit rate of the item were last reported.
    private var framesSinceReport = 0

    private struct Source {
        var number: Int
        var byteSource: any ByteSource
        var reader: any MediaReader
        var isAtEnd = false
        /// Whether the item was read from its start without a seek.
        var isWhole = true
        /// Whether the duration is exact, or cannot be made exact, so that no more scanning is needed.
        var isScanned = false
        var limits: BufferLimits?
    }

    /// The remaining duration of an item at which prefetching of the next item begins.
    private static let prefetchLead = Duration.seconds(20)
    /// The longest duration of one scan, far below the duration of the audio in the ring.
    private static let scanSlice = Duration.milliseconds(2)

    init(
        _ controller: PlaybackController, _ opener: any QueueItemOpener, format: LPCMFormat,
        _ work: consuming StreamWork
    ) {
        self.controller = controller
        self.opener = opener
        self.format = format
        filler = BufferFiller(format: format, controller.controls, work.producer)
        renderer = work.renderer.take()
    }

    private var mailbox: WorkerMailbox { controller.mailbox }

    /// Runs until the mailbox is closed.
    func run() {
        while !mailbox.isOver {
            if let job = mailbox.take() { perform(job) }
            let isBusy = fill() || scan()
            render()
            if !isBusy { mailbox.wakeup.wait(atMost: waitTimeout) }
        }
        close()
        renderer?.finish()
    }

    /// The time to wait for the next job, in milliseconds; −1: until the wake-up is signalled.
    private var waitTimeout: Int32 {
        guard let source, !source.isAtEnd else { return -1 }
        return filler.isFull && controller.state == .paused ? -1 : 40
    }
}

// MARK: Jobs
extension StreamWorker {
    private func perform(_ job: WorkerMailbox.Job) {
        switch job {
        case .open(let number, let position, let generation):
            filler.begin(generation)
            close(keeping: controller.item(number, generation: generation))
            open(number, at: position)
        case .append(let number, let generation):
            guard generation == filler.generation else { return }
            source?.byteSource.stop()
            source = nil
            open(number, at: nil)
        case .seek(let position, let number, let generation):
            filler.begin(generation)
            if source == nil { open(number, at: position) } else { seek(to: position) }
        case .close:
            close()
            renderer?.finish()
        }
    }

    /// Closes the present item, and the prefetched one unless it is `item`.
    private func close(keeping item: QueueItem? = nil) {
        mailbox.attach(nil)
        source?.byteSource.stop()
        source = nil
        if let next, next.item != item {
            next.byteSource.stop()
            self.next = nil
        }
    }

    /// Opens an item of the queue. Does nothing if the queue was replaced, since another job then follows.
    private func open(_ number: Int, at position: Duration?) {
        guard let item = controller.item(number, generation: filler.generation) else { return }
        do throws(StreamError) {
            let byteSource = if let ready = takePrefetched(item) { ready } else { try opener.begin(item) }
            mailbox.attach(byteSource)
            do throws(StreamError) {
                switch try opener.open(byteSource, of: item, as: format) {
                case .media(let reader):
                    source = Source(number: number, byteSource: byteSource, reader: reader)
                    reportFacts()
                    if let position, position > .zero { seek(to: position) }
                    controller.apply(.opened, generation: filler.generation)
                case .playlist(let items):
                    byteSource.stop()
                    controller.expand(items, in: number, generation: filler.generation)
                }
            } catch {
                byteSource.stop()
                throw error
            }
        } catch {
            reportFailure(error)
        }
    }

    private func takePrefetched(_ item: QueueItem) -> (any ByteSource)? {
        defer { next = nil }
        guard let next else { return nil }
        if next.item == item { return next.byteSource }
        next.byteSource.stop()
        return nil
    }

    /// Seeks to `position`. If the seek fails, reports this; reading then continues at the old position.
    private func seek(to position: Duration) {
        guard let reader = source?.reader else { return }
        source?.isAtEnd = false
        source?.isWhole = false
        do throws(ReaderError) {
            controller.setTarget(try reader.seek(to: position), generation: filler.generation)
        } catch {
            if isInterruption(.read(error)) { return }
            controller.setTarget(reader.position, generation: filler.generation)
            controller.reportRefusedSeek(.read(error), generation: filler.generation)
        }
    }

    /// Whether the error was caused by a newer job.
    private func isInterruption(_ error: StreamError) -> Bool {
        error == .read(.demuxer(.byteSource(.interrupted))) && mailbox.isReplaced
    }

    private func reportFailure(_ error: StreamError) {
        if isInterruption(error) { return }
        source?.isAtEnd = true
        controller.apply(.failed(error), generation: filler.generation)
    }
}

// MARK: Background work
extension StreamWorker {
    /// Fills the ring by one block. Returns whether more work may be possible without waiting.
    private func fill() -> Bool {
        defer { controller.setAhead(filler.ahead, generation: filler.generation) }
        guard let source, !source.isAtEnd, !filler.isFull else { return false }
        do throws(ReaderError) {
            let (frames, isAtEnd) = try filler.fill(from: source.reader, item: source.number, mailbox)
            framesSinceReport += frames.rawValue
            if framesSinceReport * 2 > format.rate.hertz { reportFacts() }
            if isAtEnd { readToEnd() }
        } catch {
            reportFailure(.read(error))
        }
        return true
    }

    /// Scans for the exact duration while the bytes are buffered and the ring is full. Returns whether more remains to
    /// be scanned.
    private func scan() -> Bool {
        guard let source, !source.isAtEnd, !source.isScanned, filler.isFull, isAllHere(source) else {
            return false
        }
        do throws(DemuxerError) {
            self.source?.isScanned = try source.reader.demuxer.scan(for: Self.scanSlice)
        } catch {
            // Ends scanning. The error is reported when the damaged bytes are read for playback.
            self.source?.isScanned = true
        }
        reportFacts()
        return self.source?.isScanned == false
    }

    /// Whether all bytes can be read without a request. True for a local file, and for a complete download that is kept
    /// whole.
    private func isAllHere(_ source: Source) -> Bool {
        let state = source.byteSource.state
        guard state.phase == .ended, state.isSeekable else { return false }
        if case .file = state.resource { return true }
        return source.isWhole && source.byteSource.limits == .all
    }

    private func readToEnd() {
        source?.isAtEnd = true
        reportFacts()
        controller.apply(.readToEnd, generation: filler.generation)
    }

    /// Reports the track, duration and bit rate of the item, and begins to prefetch the next item if the end is near.
    private func reportFacts() {
        framesSinceReport = 0
        guard let source else { return }
        let demuxer = source.reader.demuxer
        var track = demuxer.track
        let state = source.byteSource.state
        // Ignores an empty title, which a station without a title sends.
        if let title = source.byteSource.title(at: state.available.lowerBound), !title.allSatisfy(\.isWhitespace) {
            (track.title, track.artist) = (title, nil)
        } else if track.title == nil {
            track.title = state.stationName
        }
        controller.update(
            PlaybackController.Facts(track: track, duration: demuxer.duration, bitRate: demuxer.bitRate),
            of: source.number, generation: filler.generation)
        if let bitRate = demuxer.bitRate, let limits = opener.limits(atBitRate: bitRate), limits != source.limits {
            source.byteSource.limits = limits
            self.source?.limits = limits
        }
        guard next == nil, let following = controller.following else { return }
        let isNearEnd = demuxer.duration.map { $0.value - source.reader.position.value < Self.prefetchLead } ?? false
        guard isNearEnd || state.phase == .ended && !state.isSeekable else { return }
        // Ignores an error, which is reported when the item is opened.
        if let byteSource = try? opener.begin(following) { next = (following, byteSource) }
    }

    /// Writes the audio in the ring to the output file. Does nothing for other outputs.
    private func render() {
        guard renderer != nil else { return }
        let isLast = controller.isDraining
        do throws(StreamError) {
            try renderer?.render(controller.controls, isLast: isLast)
            controller.poll(sendsProgress: false)
            let hasEnough = renderer?.hasEnough ?? false
            guard hasEnough || isLast && controller.controls.queued == 0 else { return }
            try renderer?.close()
            controller.apply(hasEnough ? .playedEnough : .heardAll, generation: filler.generation)
        } catch {
            source?.isAtEnd = true
            controller.apply(.failed(error), generation: filler.generation)
        }
    }
}
