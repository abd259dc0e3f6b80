internal import TenfourAudioCore
internal import TenfourPackets

/// Writes the files of a recorder, without its thread and its clocks: packets and time go in, files and events come out.
///
/// `now` is the monotonic clock's time, `seconds` the time in seconds since 1970.
struct RecorderRun: ~Copyable {
    private let configuration: RecorderConfiguration
    private var directory: RecordingDirectory
    private var hooks = HookRunner()
    private var open: [OpenRecording] = []
    /// Transmissions that are over, whose talkers' names may still come.
    private var unnamed: [OpenRecording] = []
    /// The time of the next attempt after a file could not be written; nil if the last attempt succeeded.
    private var retry: Instant?
    private var lastScan: Instant?
    private var reportedEncodings: Set<UInt8> = []
    private var reportedHooks: Set<String> = []
    /// The number of packets that were not recorded, because too many others talked.
    private var unrecordedCount = 0
    private var losses = RecorderLosses()
    /// Files that have ended and may not be on the disk yet.
    private var ended: [RecordingFile] = []
    /// The times at which all files, and those that had ended, were brought to the disk last.
    private var (lastSynchronization, lastEnding) = (Instant.start, Instant.start)
    private var hasReportedDisk = false
    private var removals = RecorderRemovals()
    private let isClockSet: @Sendable () -> Bool
    private var randomness: any RandomNumberGenerator

    private struct OpenRecording {
        let ssrc: SSRC
        /// The arrivals of the first and of the last packet with speech.
        let begin: Instant
        var lastSpeech: Instant
        var sequencer = PacketSequencer<[UInt8]>()
        var ogg: OggTransmission
        let file: RecordingFile
        /// The name that the file was made with.
        let name: RecordingName
    }

    /// The number of talkers that are recorded at once; further ones are not recorded.
    static let maximumOpenCount = 16
    /// The duration after which a transmission continues in another file.
    static let longestRecording = Duration.seconds(3_600)
    /// The time for which packets wait for those before them that may be retransmitted.
    private static let hold = FrameCount(48_000)
    /// The number of packets that wait at most: a second of the shortest packets.
    private static let maximumHeldCount = 400
    private static let retryPause = Duration.seconds(10)
    private static let scanPause = Duration.seconds(60)
    private static let maximumReportedHooks = 16
    /// The time after which open recordings are brought to the disk again. With the second for which packets wait for those
    /// before them, a page, and the disk's own time, a power cut takes less than five seconds.
    static let synchronizationPause = Duration.seconds(2)
    /// The same for recordings that have ended: many short ones must not keep a slow disk busy.
    private static let endingPause = Duration.milliseconds(500)

    /// Opens the directory. `isClockSet` says whether the wall clock is right, so that recordings may be removed by their
    /// age. `randomness` makes the numbers of the Ogg streams.
    init(
        _ configuration: RecorderConfiguration, at now: Instant, seconds: Int,
        isClockSet: @escaping @Sendable () -> Bool = { true },
        randomness: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) throws(RecordingError) {
        self.configuration = configuration
        self.randomness = randomness
        self.isClockSet = isClockSet
        directory = try RecordingDirectory(configuration.directory, configuration.limit)
        prune(at: now, seconds: seconds)
    }

    /// Whether a recording is open or a hook runs, so that `advance` is to be called every 100 ms.
    var isBusy: Bool { !open.isEmpty || !unnamed.isEmpty || hooks.isBusy }

    var status: RecorderStatus {
        RecorderStatus(
            openCount: open.count, byteCount: directory.byteCount, hasFailed: retry != nil)
    }

    /// Adds a packet that arrived at `arrival`. Anything that is not Opus is dropped.
    mutating func receive(_ payload: [UInt8], _ packet: ReceivedPacket, at arrival: Instant, seconds: Int) {
        guard packet.encoding == .opus else {
            if reportedEncodings.insert(packet.encoding.rawValue).inserted {
                configuration.report(.notRecorded(packet.encoding))
            }
            return
        }
        guard let opus = try? OpusPacket(parsing: payload.span) else { return }
        var packet = packet
        packet.frameCount = opus.frameCount
        let isSpeech = packet.origin.isOriginal && !packet.isSilent(byteCount: payload.count)
        var index = open.firstIndex { $0.ssrc == packet.ssrc }
        if isSpeech {
            if let found = index, isOver(open[found], at: arrival) {
                end(found, at: arrival)
                index = nil
            }
            index = index ?? begin(packet.ssrc, at: arrival, seconds: seconds)
            if let index { open[index].lastSpeech = max(arrival, open[index].lastSpeech) }
        }
        guard let index else { return }
        open[index].sequencer.insert(payload, packet, elapsed: FrameCount(arrival - open[index].begin))
        write(index, before: open[index].sequencer.end - Self.hold, at: arrival)
    }

    /// Ends the recording of a talker who has left.
    mutating func leave(_ ssrc: SSRC, at now: Instant) {
        if let index = open.firstIndex(where: { $0.ssrc == ssrc }) { end(index, at: now) }
    }

    /// Ends the recordings of those who have stopped talking, keeps the limits, and runs hooks.
    mutating func advance(to now: Instant, seconds: Int) {
        var index = 0
        while index < open.count {
            if now - open[index].lastSpeech >= TransmissionRule.pause { end(index, at: now) } else { index += 1 }
        }
        index = 0
        while index < unnamed.count {
            if mayWait(unnamed[index], at: now) { index += 1 } else { complete(unnamed.remove(at: index), at: now) }
        }
        prune(at: now, seconds: seconds)
        if let count = removals.news(at: now) { configuration.report(.removed(count)) }
        synchronize(at: now)
        if let message = hooks.poll(at: now), reportedHooks.count < Self.maximumReportedHooks,
            reportedHooks.insert(message).inserted
        {
            configuration.report(.hookFailed(message))
        }
        report(.hooks, count: hooks.droppedCount, at: now)
    }

    /// Reports that something is missing, if `count` has risen; once until a minute has passed without a rise. For packets
    /// that the thread could not take, call it yourself.
    mutating func report(_ loss: RecorderLoss, count: Int, at now: Instant) {
        if losses.isNews(loss, count: count, at: now) { configuration.report(.lost(loss)) }
    }

    /// Completes all recordings and waits for the hooks, at most ten seconds. `clock` returns the present.
    mutating func finish(_ clock: () -> Instant, seconds: Int) {
        while !unnamed.isEmpty { complete(unnamed.removeFirst(), at: clock()) }
        while !open.isEmpty { end(0, at: clock(), mayWait: false) }
        prune(at: clock(), seconds: seconds)
        if let count = removals.news(at: clock(), isLast: true) { configuration.report(.removed(count)) }
        synchronize(at: clock(), isLast: true)
        hooks.finish(clock)
    }

    private func isOver(_ recording: OpenRecording, at now: Instant) -> Bool {
        now - recording.lastSpeech >= TransmissionRule.pause || now - recording.begin >= Self.longestRecording
    }

    // MARK: Limits

    /// Removes what exceeds the limits. A recording that takes the most space continues in another file, and its first part
    /// is removed.
    private mutating func prune(at now: Instant, seconds: Int) {
        while let name = directory.prune(at: now, seconds: seconds, isClockSet: isClockSet) {
            if let index = unnamed.firstIndex(where: { $0.file.name == name }) {
                complete(unnamed.remove(at: index), at: now)
            } else if let index = open.firstIndex(where: { $0.file.name == name }) {
                end(index, at: now, mayWait: false)
            } else {
                break
            }
        }
        removals.add(directory.takeRemovedCount())
    }

    // MARK: Files

    /// Brings to the disk what has ended, after half a second, and every two seconds what is open. Recording goes on if the disk
    /// cannot be waited for.
    private mutating func synchronize(at now: Instant, isLast: Bool = false) {
        let isDue = now - lastSynchronization >= Self.synchronizationPause
        guard isDue || isLast || !ended.isEmpty && now - lastEnding >= Self.endingPause else { return }
        if isDue { lastSynchronization = now }
        lastEnding = now
        let files = ended + (isDue ? open.map(\.file) : [])
        ended = []
        for file in files {
            do throws(RecordingError) { try file.synchronize() } catch { reportDisk(error) }
        }
        do throws(RecordingError) { try directory.synchronize() } catch { reportDisk(error) }
    }

    /// Reports once that the disk does not confirm what was written.
    private mutating func reportDisk(_ error: RecordingError) {
        if !hasReportedDisk { configuration.report(.failed(error)) }
        hasReportedDisk = true
    }

    /// Begins a recording and returns its index; nil if too many are open, or if no file can be made.
    private mutating func begin(_ ssrc: SSRC, at now: Instant, seconds: Int) -> Int? {
        guard open.count < Self.maximumOpenCount else {
            unrecordedCount += 1
            report(.talkers, count: unrecordedCount, at: now)
            return nil
        }
        guard retry.map({ now >= $0 }) ?? true else { return nil }
        let talker = configuration.talkerName(ssrc) ?? configuration.talkerPlace(ssrc) ?? ""
        let name = RecordingName(start: seconds, channel: configuration.channel, talker: talker)
        let transmission = Transmission(
            start: seconds, channel: configuration.channel.isEmpty ? name.channel : configuration.channel,
            talker: talker.isEmpty ? name.talker : talker)
        let ogg = OggTransmission(transmission, serial: UInt32.random(in: 0 ... .max, using: &randomness))
        do throws(RecordingError) {
            // A directory that was removed is made again.
            if retry != nil {
                let again = try RecordingDirectory(configuration.directory, configuration.limit)
                again.adopt(directory)
                directory = again
            }
            if retry != nil || lastScan.map({ now - $0 >= Self.scanPause }) ?? false {
                directory.scan(open: (open + unnamed).map(\.file.name))
                lastScan = now
            }
            lastScan = lastScan ?? now
            let file = try directory.create(name, at: now)
            do { try file.append(ogg.header) } catch {
                directory.remove(file.name)
                throw error
            }
            directory.setByteCount(file.byteCount, of: file.name)
            if retry != nil { configuration.report(.recovered) }
            retry = nil
            open.append(OpenRecording(ssrc: ssrc, begin: now, lastSpeech: now, ogg: ogg, file: file, name: name))
            configuration.report(.began(file.path))
            run(.start, transmission, file)
            return open.count - 1
        } catch {
            fail(error, at: now)
            return nil
        }
    }

    /// Writes the packets of a recording that lie before `limit`.
    private mutating func write(_ index: Int, before limit: FrameCount, at now: Instant) {
        var pages: [UInt8] = []
        while let packet = open[index].sequencer.next(
            before: open[index].sequencer.count > Self.maximumHeldCount ? FrameCount(.max) : limit)
        {
            pages += open[index].ogg.append(packet)
        }
        guard !pages.isEmpty else { return }
        let file = open[index].file
        do throws(RecordingError) { try file.append(pages) } catch {
            fail(error, at: now)
            close(open.remove(at: index))
            return
        }
        directory.setByteCount(file.byteCount, of: file.name)
    }

    /// Writes the rest of a recording, and completes it. With `mayWait` it first waits for the name of its talker.
    private mutating func end(_ index: Int, at now: Instant, mayWait: Bool = true) {
        let count = open.count
        write(index, before: FrameCount(.max), at: now)
        // The recording is closed already if it could not be written.
        guard open.count == count else { return }
        let recording = open.remove(at: index)
        guard mayWait, self.mayWait(recording, at: now) else { return complete(recording, at: now) }
        if unnamed.count >= Self.maximumOpenCount { complete(unnamed.removeFirst(), at: now) }
        unnamed.append(recording)
        ended.append(recording.file)
    }

    /// Whether the talker of a recording has no name, and one may still come.
    private func mayWait(_ recording: OpenRecording, at now: Instant) -> Bool {
        now - recording.begin < configuration.nameWait && configuration.talkerName(recording.ssrc) == nil
    }

    /// Completes a recording, with the name that its talker has now.
    private mutating func complete(_ ended: OpenRecording, at now: Instant) {
        var recording = ended
        if let talker = configuration.talkerName(recording.ssrc) ?? configuration.talkerPlace(recording.ssrc) {
            recording.ogg.rename(talker)
            let name = RecordingName(start: recording.name.start, channel: configuration.channel, talker: talker)
            // Before the last page, so that those who wait for complete recordings see the name that stays.
            if name != recording.name { _ = directory.rename(recording.file, to: name) }
        }
        do throws(RecordingError) {
            try recording.file.append(recording.ogg.finish())
            try recording.file.replaceBeginning(recording.ogg.finalHeader)
        } catch {
            fail(error, at: now)
        }
        close(recording)
    }

    private mutating func close(_ recording: OpenRecording) {
        directory.setByteCount(recording.file.byteCount, of: recording.file.name, isOpen: false)
        ended.append(recording.file)
        var transmission = recording.ogg.transmission
        transmission.duration = transmission.duration ?? recording.ogg.duration
        configuration.report(.ended(transmission, path: recording.file.path))
        run(.end, transmission, recording.file)
    }

    private mutating func fail(_ error: RecordingError, at now: Instant) {
        if retry == nil { configuration.report(.failed(error)) }
        retry = now + Self.retryPause
    }

    private mutating func run(_ event: RecordingHook.Event, _ transmission: Transmission, _ file: RecordingFile) {
        guard let hook = configuration.hook else { return }
        hooks.add(RecordingHook.Run(hook, event, transmission, path: file.path))
    }
}
