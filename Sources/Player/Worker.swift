internal import Feed
internal import Handoff
internal import Sound
internal import TimePitch

/// Opens, reads and decodes, and puts the sound into the ring: on a thread of its own, which may wait for bytes.
final class Worker {
    private let director: Director
    private let opening: any Opening
    /// Of the output.
    private let format: LPCMFormat
    /// Where sound goes to a file, there is no thread but this one.
    private var renderer: Renderer?
    private var ring: RingFiller
    private var source: Source?
    /// What comes after it, of which bytes are fetched already.
    private var next: (number: Int, download: any Downloading)?
    /// Frames since it was last told what is known of the item.
    private var untold = 0

    private struct Source {
        var number: Int
        var download: any Downloading
        var reader: any Reading
        var isAtEnd = false
        var limits: BufferLimits?
    }

    /// The next of the queue is fetched when so much is left of what is read.
    private static let lead = Duration.seconds(20)

    init(_ director: Director, _ opening: any Opening, format: LPCMFormat, _ work: consuming Work) {
        self.director = director
        self.opening = opening
        self.format = format
        ring = RingFiller(format: format, director.controls, work.producer)
        renderer = work.renderer.take()
    }

    private var orders: WorkOrders { director.orders }

    /// Until the orders are over.
    func run() {
        while !orders.isOver {
            if let job = orders.take() { perform(job) }
            let isBusy = fill()
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
extension Worker {
    private func perform(_ job: WorkOrders.Job) {
        switch job {
        case .open(let number, let position, let generation):
            ring.begin(generation)
            close(keeping: number)
            open(number, at: position)
        case .append(let number, let generation):
            guard generation == ring.generation else { return }
            source?.download.stop()
            open(number, at: nil)
        case .seek(let position, let generation):
            ring.begin(generation)
            seek(to: position)
        case .close:
            close()
            renderer?.finish()
        }
    }

    /// What is fetched ahead is kept where it is that which is wanted.
    private func close(keeping number: Int? = nil) {
        orders.attach(nil)
        source?.download.stop()
        source = nil
        if let next, next.number != number {
            next.download.stop()
            self.next = nil
        }
    }

    private func open(_ number: Int, at position: Duration?) {
        let item = director.item(number)
        do throws(StreamError) {
            let download = if let ready = prepared(number) { ready } else { try opening.begin(item) }
            orders.attach(download)
            do throws(StreamError) {
                switch try opening.open(download, of: item, as: format) {
                case .sound(let reader):
                    source = Source(number: number, download: download, reader: reader)
                    learn()
                    try begin(reader, at: position)
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

    private func prepared(_ number: Int) -> (any Downloading)? {
        guard let next, next.number == number else { return nil }
        self.next = nil
        return next.download
    }

    private func begin(_ reader: any Reading, at position: Duration?) throws(StreamError) {
        if let position, position > .zero {
            do throws(ReadError) {
                director.worker(isAt: try reader.seek(to: position), generation: ring.generation)
            } catch {
                throw .read(error)
            }
        }
        director.worker(.opened, generation: ring.generation)
    }

    private func seek(to position: Duration) {
        guard let source else { return }
        self.source?.isAtEnd = false
        do throws(ReadError) {
            director.worker(isAt: try source.reader.seek(to: position), generation: ring.generation)
        } catch {
            failed(.read(error))
        }
    }

    /// What came in between is none.
    private func failed(_ error: StreamError) {
        guard error != .read(.parse(.download(.interrupted))) else { return }
        source?.isAtEnd = true
        director.worker(.failed(error), generation: ring.generation)
    }
}

// What it does by itself.
extension Worker {
    /// Puts a block into the ring, if there is room for it. Returns whether there may be more to do.
    private func fill() -> Bool {
        defer { director.worker(isAhead: ring.ahead, generation: ring.generation) }
        guard let source, !source.isAtEnd, !ring.isFull else { return false }
        do throws(ReadError) {
            let (frames, isAtEnd) = try ring.fill(from: source.reader, item: source.number, orders.treatment)
            untold += frames.rawValue
            if untold * 2 > format.rate.hertz { learn() }
            if isAtEnd { readToEnd() }
        } catch {
            failed(.read(error))
        }
        return true
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
        if let title = source.download.title(at: state.available.lowerBound) {
            (track.title, track.artist) = (title, nil)
        }
        director.worker(
            hasLearned: Director.Facts(track: track, duration: parser.duration, bitRate: parser.bitRate),
            of: source.number)
        if let bitRate = parser.bitRate, let limits = opening.limits(atBitRate: bitRate), limits != source.limits {
            source.download.limits = limits
            self.source?.limits = limits
        }
        guard next == nil, let following = director.following else { return }
        let isNearEnd = parser.duration.map { $0.value - source.reader.position.value < Self.lead } ?? false
        guard isNearEnd || state.phase == .ended && !state.isSeekable else { return }
        // What cannot even be begun is told when it is its turn.
        if let download = try? opening.begin(following.item) { next = (following.number, download) }
    }

    /// Where there is no output with a clock, all of the ring goes to the file at once.
    private func render() {
        guard renderer != nil else { return }
        let isLast = director.isDraining
        do throws(StreamError) {
            try renderer?.render(director.controls, isLast: isLast)
            director.look(tells: false)
            guard isLast, director.controls.waiting == 0 else { return }
            try renderer?.close()
            director.worker(.heardAll, generation: ring.generation)
        } catch {
            source?.isAtEnd = true
            director.worker(.failed(error), generation: ring.generation)
        }
    }
}
