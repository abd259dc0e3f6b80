internal import Feed
internal import Handoff
internal import Sound
internal import Synchronization

/// Opens, reads and decodes, and puts the sound into the ring: on a thread of its own, which may wait for bytes.
final class Worker {
    private let director: Director
    private let opening: any Opening
    private let blocks: HandoffProducer<SoundBlock>
    /// Where sound goes to a file, there is no thread but this one.
    private var renderer: Renderer?

    private var generation = 0
    private var source: Source?
    /// What comes after it, of which bytes are fetched already.
    private var next: (item: Int, download: any Downloading)?
    private var chunk: Preallocated<Float>
    private var block = SoundBlock()
    /// Frames put into the ring in this generation.
    private var pushed = 0
    private var pushedEver = 0
    /// Frames since it was last told what is known of the item.
    private var untold = 0

    private struct Source {
        var item: Int
        var download: any Downloading
        var reader: any Reading
        var isAtEnd = false
    }

    /// How much the ring holds: little, so that another rate is heard at once.
    private static let ringGoal = Duration.milliseconds(150)
    /// The next of the queue is fetched when so much is left of what is read.
    private static let lead = Duration.seconds(20)

    /// `format` is the output's; nil where it follows from the first that is opened.
    init(
        _ director: Director, _ opening: any Opening, format: LPCMFormat?, _ work: consuming Work
    ) {
        self.director = director
        self.opening = opening
        self.format = format
        blocks = work.producer
        renderer = work.renderer.take()
        chunk = Preallocated(repeating: 0, count: SoundBlock.capacity)
    }

    private var format: LPCMFormat?
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
        return director.state == .paused && ahead >= Self.ringGoal ? -1 : 40
    }

    /// How much of this generation the ring holds. What is of earlier ones lies before it.
    private var ahead: Duration {
        guard let format else { return .zero }
        return FrameCount(min(director.controls.waiting, pushed)).duration(at: format.rate)
    }
}

// What it is told to do.
extension Worker {
    private func perform(_ job: WorkOrders.Job) {
        switch job {
        case .open(let item, let position, let generation):
            begin(generation)
            close()
            open(item, at: position, with: prepared(item))
        case .append(let item, let generation):
            guard generation == self.generation else { return }
            source?.download.stop()
            open(item, at: nil, with: prepared(item))
        case .seek(let position, let generation):
            begin(generation)
            seek(to: position)
        case .close:
            begin(generation)
            close()
            renderer?.finish()
        }
    }

    private func begin(_ generation: Int) {
        self.generation = generation
        pushed = 0
        block.frameCount = 0
    }

    private func close() {
        orders.attach(nil)
        source?.download.stop()
        source = nil
        next?.download.stop()
        next = nil
    }

    /// What was fetched ahead, if it is that.
    private func prepared(_ item: Int) -> (any Downloading)? {
        guard let next else { return nil }
        self.next = nil
        if next.item == item { return next.download }
        next.download.stop()
        return nil
    }

    private func open(_ item: Int, at position: Duration?, with download: (any Downloading)?) {
        let address = director.address(of: item)
        do throws(StreamError) {
            let download = if let download { download } else { try opening.begin(address) }
            orders.attach(download)
            do throws(ReadError) {
                let reader = try opening.open(download, named: address, as: format)
                source = Source(item: item, download: download, reader: reader)
                if format == nil { try begin(reader.format) }
                learn()
                if let position, position > .zero {
                    director.worker(isAt: try reader.seek(to: position), generation: generation)
                }
                director.worker(.opened, generation: generation)
            } catch {
                if source?.download !== download { download.stop() }
                throw .read(error)
            }
        } catch {
            failed(error)
        }
    }

    /// The first of what goes to a file says what the file is like.
    private func begin(_ format: LPCMFormat) throws(ReadError) {
        self.format = format
        do throws(StreamError) {
            try renderer?.begin(format)
        } catch {
            throw .undecodable(error.description)
        }
    }

    private func seek(to position: Duration) {
        guard source != nil else { return }
        source?.isAtEnd = false
        do throws(ReadError) {
            if let source { director.worker(isAt: try source.reader.seek(to: position), generation: generation) }
        } catch {
            failed(.read(error))
        }
    }

    /// What came in between is none.
    private func failed(_ error: StreamError) {
        guard error != .read(.parse(.download(.interrupted))) else { return }
        source?.isAtEnd = true
        director.worker(.failed(error), generation: generation)
    }
}

// What it does by itself.
extension Worker {
    /// Reads a chunk, if there is room for it. Returns whether there may be more to do.
    private func fill() -> Bool {
        guard let source, !source.isAtEnd, ahead < Self.ringGoal, let format else {
            director.worker(isAhead: ahead, generation: generation)
            return false
        }
        let position = source.reader.position
        do throws(ReadError) {
            let wanted = SoundBlock.capacity / format.channelCount
            let frames = try Self.read(wanted * format.channelCount, of: &chunk, from: source.reader)
            append(frames.rawValue, at: position, of: source.item)
            untold += frames.rawValue
            if untold * 2 > format.rate.hertz { learn() }
            if frames.rawValue < wanted { readToEnd() }
        } catch {
            failed(.read(error))
        }
        director.worker(isAhead: ahead, generation: generation)
        return true
    }

    private static func read(
        _ sampleCount: Int, of chunk: inout Preallocated<Float>, from reader: any Reading
    ) throws(ReadError) -> FrameCount {
        var room = chunk.mutableSpan(in: 0..<sampleCount)
        return try reader.read(into: &room)
    }

    private func append(_ frameCount: Int, at position: Estimate<Duration>, of item: Int) {
        guard frameCount > 0, let format else { return }
        block.generation = generation
        block.item = item
        block.position = Instant.nanoseconds(in: position.value)
        block.isExact = position.isExact
        block.rate = 1
        block.frameCount = frameCount
        for index in 0..<frameCount * format.channelCount { block.samples[index] = chunk[index] }
        push()
    }

    /// The ring has more places than its goal needs; should it be full, this waits.
    private func push() {
        pushedEver &+= block.frameCount
        pushed += block.frameCount
        // Counted before it can be taken, so that what waits is never less than nothing.
        director.controls.pushed.store(pushedEver, ordering: .releasing)
        while !blocks.push(block) { orders.bell.wait(atMost: 5) }
        block.frameCount = 0
    }

    private func readToEnd() {
        source?.isAtEnd = true
        learn()
        director.worker(.readToEnd, generation: generation)
    }

    /// Tells what is known of the item now, and fetches the next in time.
    private func learn() {
        untold = 0
        guard let source else { return }
        let parser = source.reader.parser
        director.worker(
            hasLearned: Director.Facts(track: parser.track, duration: parser.duration, bitRate: parser.bitRate),
            of: source.item)
        guard next == nil, let following = director.following else { return }
        let isNearEnd = parser.duration.map { $0.value - source.reader.position.value < Self.lead } ?? false
        guard isNearEnd || source.download.state.phase == .ended else { return }
        // What cannot even be begun is told when it is its turn.
        if let download = try? opening.begin(following.address) { next = (following.item, download) }
    }

    /// Where there is no output with a clock, all of the ring goes to the file at once.
    private func render() {
        guard renderer != nil else { return }
        let isLast = director.isDraining
        do throws(StreamError) {
            try renderer?.render(director.controls, isLast: isLast)
            if isLast, director.controls.waiting == 0 {
                try renderer?.close()
                director.worker(.heardAll, generation: generation)
            }
        } catch {
            source?.isAtEnd = true
            director.worker(.failed(error), generation: generation)
        }
    }
}
