internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourMediaSource
internal import TenfourSystem
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
    /// The duration of a crossfade; zero for none.
    private let crossfade: Duration
    private let gain: ReplayGain.Mode
    private let positionOfItem: (@Sendable (MediaIdentity, Duration?) -> Duration?)?
    private let waveform: WaveformAnalysis?
    /// The end of the item before, which fades out under the item that is opened next; nil for none.
    private var fading: FadingItem?
    private let next: NextItem
    /// The number of frames pushed into the ring since the track, duration and bit rate of the item were last reported.
    private var framesSinceReport = 0
    /// Whether the item has had no audio yet.
    private var isEmpty = true

    private struct Source {
        /// The item's number, which it keeps when the queue is edited.
        var number: Int
        var item: QueueItem
        var byteSource: any ByteSource
        var reader: any MediaReader
        var isAtEnd = false
        /// Whether the item was read from its start without a seek.
        var isWhole = true
        /// Whether the duration is exact, or cannot be made exact, so that no more scanning is needed.
        var isScanned = false
        var limits: BufferLimits?
        /// What tells the item from others; nil if it cannot be found again.
        var identity: MediaIdentity?

        var partReader: PartReader? { (reader as? CrossfadeReader)?.base as? PartReader ?? reader as? PartReader }
    }

    /// The remaining duration of an item at which prefetching of the next item begins.
    private var prefetchLead: Duration { max(.seconds(20), crossfade + .seconds(10)) }
    /// The remaining duration before a crossfade at which opening the next item begins.
    private static let openingLead = Duration.seconds(5)
    /// The longest duration of one scan, far below the duration of the audio in the ring.
    private static let scanSlice = Duration.milliseconds(2)

    init(
        _ controller: PlaybackController, _ opener: any QueueItemOpener, format: LPCMFormat,
        _ work: consuming StreamWork
    ) {
        self.controller = controller
        self.opener = opener
        self.format = format
        let effect = work.makeEffect.map { $0(format) } ?? AnyAudioEffect(NoEffect(format: format))
        waveform = work.waveform
        filler = BufferFiller(
            format: format, controller.controls, work.producer, effect: effect, tap: waveform.map { WaveformTap($0) })
        crossfade = work.crossfade
        next = NextItem(opener, as: format, controller.mailbox)
        gain = work.gain
        positionOfItem = work.startPosition
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
            guard generation == filler.generation, !readOn(number) else { return }
            source?.byteSource.stop()
            source = nil
            open(number, at: nil)
        case .seek(let position, let number, let generation):
            filler.begin(generation)
            fading = nil
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
        fading = nil
        next.drop(unless: item)
    }

    /// Opens an item of the queue. Does nothing if the queue was replaced, since another job then follows.
    private func open(_ number: Int, at position: Duration?) {
        guard let item = controller.item(number, generation: filler.generation) else { return }
        do throws(StreamError) {
            let ready = next.take(item)
            var byteSource = if let ready { ready.byteSource } else { try opener.begin(item) }
            mailbox.attach(byteSource)
            do throws(StreamError) {
                var opened: OpenedMedia =
                    if let opening = ready?.opening { try opening.media() } else {
                        try opener.open(byteSource, of: item, as: format)
                    }
                if case .segments(let stream) = opened {
                    byteSource.stop()
                    byteSource = stream
                    mailbox.attach(stream)
                    opened = try opener.open(stream, of: item, as: format)
                }
                switch opened {
                case .media(let media):
                    let reader = fading.map { CrossfadeReader(media, fading: $0) } ?? media
                    mailbox.attach(byteSource, fading: fading?.byteSource)
                    fading = nil
                    source = Source(
                        number: number, item: item, byteSource: byteSource, reader: reader,
                        identity: MediaIdentity(item, byteSource.state))
                    beginItem()
                    reportFacts()
                    // A live stream begins at its edge, not at position 0.
                    controller.setTarget(reader.position, generation: filler.generation)
                    if let start = position ?? startPosition(), start > .zero { seek(to: start) }
                    controller.apply(.opened, generation: filler.generation)
                case .playlist(let items, let note):
                    byteSource.stop()
                    controller.expand(items, in: number, note: note, generation: filler.generation)
                case .segments: throw .nestedPlaylist
                }
            } catch {
                byteSource.stop()
                throw error
            }
        } catch {
            reportFailure(error)
        }
    }

    /// The position at which the present item starts if nobody asked for one; nil for its start.
    private func startPosition() -> Duration? {
        guard let positionOfItem, let source, let identity = source.identity else { return nil }
        return positionOfItem(identity, source.reader.demuxer.duration?.value)
    }

    /// Reads on in the same file if the item is the part that follows. Returns false if it must be opened.
    private func readOn(_ number: Int) -> Bool {
        guard let source, let item = controller.item(number, generation: filler.generation),
            item.continues(source.item), let part = item.part, let reader = source.partReader,
            let following = reader.continued(with: part)
        else { return false }
        self.source?.number = number
        self.source?.item = item
        self.source?.reader = following
        self.source?.identity = MediaIdentity(item, source.byteSource.state)
        self.source?.isAtEnd = false
        beginItem()
        reportFacts()
        controller.apply(.opened, generation: filler.generation)
        return true
    }

    /// Tells the effects and the waveform that another item begins.
    private func beginItem() {
        guard let source else { return }
        isEmpty = true
        // The sum of two items may exceed full scale.
        filler.beginItem(amplifies: source.reader is CrossfadeReader || mayExceedFullScale(source.reader))
        waveform?.begin(
            WaveformAnalysis.Job(
                number: source.number, item: source.item, byteSource: source.byteSource, identity: source.identity))
    }

    /// Whether the gain of an item's tags can raise its levels above full scale.
    private func mayExceedFullScale(_ reader: any MediaReader) -> Bool {
        reader.demuxer.track.gain.factor(gain)?.mayExceedFullScale ?? false
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

// MARK: Crossfade
extension StreamWorker {
    /// Goes on to the next item before this one ends, if it is time for a crossfade. Returns false if it is not, or if
    /// the next item is not open yet: playback must not wait for it. During a crossfade no other one begins.
    private func beginCrossfade() -> Bool {
        guard crossfade > .zero, let source, !(source.reader is CrossfadeReader),
            let duration = source.reader.demuxer.duration, duration.isExact
        else { return false }
        let left = duration.value - source.reader.position.value
        guard left > .zero, left <= crossfade + Self.openingLead, source.byteSource.state.phase == .ended,
            let following = controller.following, following.number != source.number,
            !following.item.continues(source.item)
        else { return false }
        next.open(following.item)
        // Plays a pause that is held back before the fade, which passes `SilenceSkipper` by.
        guard left <= crossfade, !filler.holdsPause else { return false }
        if renderer != nil { next.waitUntilOpened(following.item) }
        guard next.isReady(following.item) else { return false }
        readToEnd(isEmpty: false)
        fading = FadingItem(
            source.reader, frameCount: FrameCount(left, at: format.rate).rawValue, source.byteSource)
        self.source = nil
        return true
    }

    /// Reads the item itself once the one before has faded out.
    private func endCrossfade() {
        guard let source, let reader = source.reader as? CrossfadeReader, reader.isOver else { return }
        self.source?.reader = reader.base
        mailbox.attach(source.byteSource)
        filler.itemAmplifies = mayExceedFullScale(reader.base)
    }
}

// MARK: Background work
extension StreamWorker {
    /// Fills the ring by one block. Returns whether more work may be possible without waiting.
    private func fill() -> Bool {
        defer { controller.setAhead(filler.ahead, generation: filler.generation) }
        guard let source, !source.isAtEnd, !filler.isFull else { return false }
        if beginCrossfade() { return true }
        do throws(ReaderError) {
            let (frames, isAtEnd) = try filler.fill(from: source.reader, item: source.number, mailbox)
            framesSinceReport += frames.rawValue
            if frames > .zero { isEmpty = false }
            if framesSinceReport * 2 > format.rate.hertz { reportFacts() }
            endCrossfade()
            if isAtEnd { readToEnd(isEmpty: isEmpty) }
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

    private func readToEnd(isEmpty: Bool) {
        source?.isAtEnd = true
        reportFacts()
        controller.apply(isEmpty ? .readNothing : .readToEnd, generation: filler.generation)
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
        let share = source.partReader?.share
        controller.update(
            PlaybackController.Facts(
                track: track, duration: demuxer.duration, bitRate: bitRate(of: demuxer), share: share,
                identity: source.identity),
            of: source.number, generation: filler.generation)
        if let bitRate = demuxer.bitRate, let limits = opener.limits(atBitRate: bitRate), limits != source.limits {
            source.byteSource.limits = limits
            self.source?.limits = limits
        }
        guard let following = controller.following?.item, !following.continues(source.item), following != next.item
        else { return }
        // The queue may have been edited since the prefetch began.
        next.drop(unless: following)
        let isNearEnd = demuxer.duration.map { $0.value - source.reader.position.value < prefetchLead } ?? false
        guard isNearEnd || state.phase == .ended && !state.isSeekable else { return }
        next.prefetch(following)
    }

    private func bitRate(of demuxer: any Demuxer) -> Estimate<Int>? {
        // All packets have been counted if the item was read from its start to its end.
        let isReadWhole = source.map { $0.isWhole && $0.isAtEnd } ?? false
        return demuxer.bitRate.map { Estimate($0, isExact: demuxer.isBitRateExact || isReadWhole) }
    }

    /// Writes the audio in the ring to the output file. Does nothing for other outputs.
    private func render() {
        guard renderer != nil else { return }
        let isLast = controller.isDraining
        do throws(StreamError) {
            try renderer?.render(controller.controls, isLast: isLast) { controller.fileTags }
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
