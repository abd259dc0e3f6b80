internal import TenfourAudioCore
internal import TenfourMediaSource
internal import TenfourRings
internal import TenfourTimePitch

/// Opens, reads and decodes, and puts the sound into the ring: on a thread of its own, which may wait for bytes.
final class StreamWorker {
    private let director: PlaybackController
    private let opening: any Opening
    /// Of the output.
    private let format: LPCMFormat
    /// Where sound goes to a file, there is no thread but this one.
    private var renderer: FileRenderer?
    private var ring: BufferFiller
    private var source: Source?
    /// What comes after it, of which bytes are fetched already.
    private var next: (item: QueueItem, download: any ByteSource)? {
        didSet { orders.attach(ahead: next?.download) }
    }
    /// Frames since it was last told what is known of the item.
    private var untold = 0

    private struct Source {
        var number: Int
        var download: any ByteSource
        var reader: any MediaReader
        var isAtEnd = false
        /// Whether it was read from its beginning on and nowhere else.
        var isWhole = true
        /// Nothing about it is a guess any more that looking ahead would mend.
        var isScanned = false
        var limits: BufferLimits?
    }

    /// The next of the queue is fetched when so much is left of what is read.
    private static let lead = Duration.seconds(20)
    /// So long is looked ahead at a time: what the ring holds outlasts it by far.
    private static let scanning = Duration.milliseconds(2)

    init(_ director: PlaybackController, _ opening: any Opening, format: LPCMFormat, _ work: consuming StreamWork) {
        self.director = director
        self.opening = opening
        self.format = format
        ring = BufferFiller(format: format, director.controls, work.producer)
        renderer = work.renderer.take()
    }

    private var orders: WorkerRequest { director.orders }

    /// Until the orders are over.
    func run() {
        while !orders.isOver {
            if let job = orders.take() { perform(job) }
            let isBusy = fill() || scan()
            render()
            if !isBusy { orders.bell.wait(atMost: patience) }
        }
        close()
        renderer?.finish()
    }

    /// How long there is nothing to do, in milliseconds: −1 until the bell rings.
    private var patience: Int32 {
        guard let source, !source.isAtEnd else { return -1 }
        return ring.isFull && director.state == .paused ? -1 : 40
    }
}

// What it is told to do.
extension StreamWorker {
    private func perform(_ job: WorkerRequest.Job) {
        switch job {
        case .open(let number, let position, let generation):
            ring.begin(generation)
            close(keeping: director.item(number, generation: generation))
            open(number, at: position)
        case .append(let number, let generation):
            guard generation == ring.generation else { return }
            source?.download.stop()
            source = nil
            open(number, at: nil)
        case .seek(let position, let number, let generation):
            ring.begin(generation)
            if source == nil { open(number, at: position) } else { seek(to: position) }
        case .close:
            close()
            renderer?.finish()
        }
    }

    /// What is fetched ahead is kept where it is that which is wanted.
    private func close(keeping item: QueueItem? = nil) {
        orders.attach(nil)
        source?.download.stop()
        source = nil
        if let next, next.item != item {
            next.download.stop()
            self.next = nil
        }
    }

    /// Nothing, where the queue is another by now: what is to be done then is on its way.
    private func open(_ number: Int, at position: Duration?) {
        guard let item = director.item(number, generation: ring.generation) else { return }
        do throws(StreamError) {
            let download = if let ready = prepared(item) { ready } else { try opening.begin(item) }
            orders.attach(download)
            do throws(StreamError) {
                switch try opening.open(download, of: item, as: format) {
                case .sound(let reader):
                    source = Source(number: number, download: download, reader: reader)
                    learn()
                    if let position, position > .zero { seek(to: position) }
                    director.worker(.opened, generation: ring.generation)
                case .playlist(let items):
                    download.stop()
                    director.worker(hasFound: items, in: number, generation: ring.generation)
                }
            } catch {
                download.stop()
                throw error
            }
        } catch {
            failed(error)
        }
    }

    private func prepared(_ item: QueueItem) -> (any ByteSource)? {
        defer { next = nil }
        guard let next else { return nil }
        if next.item == item { return next.download }
        next.download.stop()
        return nil
    }

    /// Where that leads nowhere, it reads on where it was; what is wrong with more than the seek comes up in reading.
    private func seek(to position: Duration) {
        guard let reader = source?.reader else { return }
        source?.isAtEnd = false
        source?.isWhole = false
        do throws(ReaderError) {
            director.worker(isAt: try reader.seek(to: position), generation: ring.generation)
        } catch {
            if isInterruption(.read(error)) { return }
            director.worker(isAt: reader.position, generation: ring.generation)
            director.worker(hasRefusedToSeek: .read(error), generation: ring.generation)
        }
    }

    /// What came in between is no failure.
    private func isInterruption(_ error: StreamError) -> Bool {
        error == .read(.parse(.download(.interrupted))) && orders.isReplaced
    }

    private func failed(_ error: StreamError) {
        if isInterruption(error) { return }
        source?.isAtEnd = true
        director.worker(.failed(error), generation: ring.generation)
    }
}

// What it does by itself.
extension StreamWorker {
    /// Puts a block into the ring, if there is room for it. Returns whether there may be more to do.
    private func fill() -> Bool {
        defer { director.worker(isAhead: ring.ahead, generation: ring.generation) }
        guard let source, !source.isAtEnd, !ring.isFull else { return false }
        do throws(ReaderError) {
            let (frames, isAtEnd) = try ring.fill(from: source.reader, item: source.number, orders)
            untold += frames.rawValue
            if untold * 2 > format.rate.hertz { learn() }
            if isAtEnd { readToEnd() }
        } catch {
            failed(.read(error))
        }
        return true
    }

    /// Where the bytes are all here and the ring has enough, it is looked how long it is and what lies where. Returns whether
    /// there is more to look at.
    private func scan() -> Bool {
        guard let source, !source.isAtEnd, !source.isScanned, ring.isFull, isAllHere(source) else {
            return false
        }
        do throws(DemuxerError) {
            self.source?.isScanned = try source.reader.parser.scan(for: Self.scanning)
        } catch {
            // What is broken there is told when it is read.
            self.source?.isScanned = true
        }
        learn()
        return self.source?.isScanned == false
    }

    /// A file is; of what comes over a network some is forgotten, unless all is kept and was read in its order.
    private func isAllHere(_ source: Source) -> Bool {
        let state = source.download.state
        guard state.phase == .ended, state.isSeekable else { return false }
        if case .file = state.resource { return true }
        return source.isWhole && source.download.limits == .all
    }

    private func readToEnd() {
        source?.isAtEnd = true
        learn()
        director.worker(.readToEnd, generation: ring.generation)
    }

    /// Tells what is known of the item now, and fetches the next in time.
    private func learn() {
        untold = 0
        guard let source else { return }
        let parser = source.reader.parser
        var track = parser.track
        let state = source.download.state
        // Stations send an empty title where they have none.
        if let title = source.download.title(at: state.available.lowerBound), !title.allSatisfy(\.isWhitespace) {
            (track.title, track.artist) = (title, nil)
        } else if track.title == nil {
            track.title = state.stationName
        }
        director.worker(
            hasLearned: PlaybackController.Facts(track: track, duration: parser.duration, bitRate: parser.bitRate),
            of: source.number, generation: ring.generation)
        if let bitRate = parser.bitRate, let limits = opening.limits(atBitRate: bitRate), limits != source.limits {
            source.download.limits = limits
            self.source?.limits = limits
        }
        guard next == nil, let following = director.following else { return }
        let isNearEnd = parser.duration.map { $0.value - source.reader.position.value < Self.lead } ?? false
        guard isNearEnd || state.phase == .ended && !state.isSeekable else { return }
        // What cannot even be begun is told when it is its turn.
        if let download = try? opening.begin(following) { next = (following, download) }
    }

    /// Where there is no output with a clock, all of the ring goes to the file at once.
    private func render() {
        guard renderer != nil else { return }
        let isLast = director.isDraining
        do throws(StreamError) {
            try renderer?.render(director.controls, isLast: isLast)
            director.look(tells: false)
            let hasEnough = renderer?.hasEnough ?? false
            guard hasEnough || isLast && director.controls.waiting == 0 else { return }
            try renderer?.close()
            director.worker(hasEnough ? .playedEnough : .heardAll, generation: ring.generation)
        } catch {
            source?.isAtEnd = true
            director.worker(.failed(error), generation: ring.generation)
        }
    }
}
