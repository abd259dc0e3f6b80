import CALSA
import Glibc
import TenfourAudioCore

/// An open PCM and its buffers. The C functions are `snd_pcm_open` and `snd_pcm_close`.
///
/// It is opened non-blocking: callers wait in `poll` or `sleep` with a time limit. Opening and closing allocate and may
/// take long; all other calls do neither. A closed PCM returns `-ENODEV`. For one thread at a time.
@safe struct PCMDevice: ~Copyable {
    let name: String
    let direction: Direction
    /// The driver's name for the card.
    let cardName: String
    let negotiated: NegotiatedParameters

    private let requested: RequestedParameters
    private let software: SoftwareParameters
    private var pcm: OpaquePointer?
    private let status: OpaquePointer
    private let descriptors: UnsafeMutableBufferPointer<pollfd>
    /// A buffer for one period in the card's format.
    private let staging: UnsafeMutableRawPointer
    /// The capacity of `staging`, in frames.
    private let stagingCapacity: Int

    /// Opens exactly `name` with the parameters nearest to `requested`.
    ///
    /// - `resampling`: lets ALSA's plugins convert the rate if the card has another rate.
    init(_ name: String, _ direction: Direction, _ requested: RequestedParameters, resampling: Bool = false)
        throws(SoundCardError)
    {
        ALSAMessages.divertFromTerminal()
        let pcm = try unsafe openPCM(name, direction)
        var negotiated: NegotiatedParameters
        let software: SoftwareParameters
        do throws(SoundCardError) {
            negotiated = try unsafe PCMDevice.configure(pcm, name, requested, resampling: resampling)
            negotiated.setQueue(requested, direction)
            software = try unsafe SoftwareParameters.installed(
                on: pcm, device: name, availMin: negotiated.period, buffer: negotiated.buffer)
        } catch {
            unsafe snd_pcm_close(pcm)
            throw error
        }
        var status: OpaquePointer?
        unsafe snd_pcm_status_malloc(&status)
        guard let status = unsafe status else {
            unsafe snd_pcm_close(pcm)
            throw .failed(name, call: "snd_pcm_status_malloc", code: -ENOMEM, explanation: "")
        }
        self.name = name
        self.direction = direction
        self.requested = requested
        self.negotiated = negotiated
        self.software = software
        cardName = unsafe nameOfCard(behind: pcm)
        unsafe self.pcm = pcm
        unsafe self.status = status
        unsafe descriptors = .allocate(capacity: max(1, Int(snd_pcm_poll_descriptors_count(pcm))))
        unsafe descriptors.initialize(repeating: pollfd())
        let byteCount = negotiated.period * negotiated.channelCount * negotiated.sampleFormat.byteCount
        unsafe staging = .allocate(byteCount: byteCount, alignment: 16)
        unsafe staging.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        stagingCapacity = negotiated.period
    }

    deinit {
        if let pcm = unsafe pcm { unsafe TenfourSoundCard.close(pcm, timeout: nanosecondsPerSecond) }
        unsafe snd_pcm_status_free(status)
        unsafe descriptors.deallocate()
        unsafe staging.deallocate()
    }

    /// Closes the card without waiting. The kernel reuses a name for a replugged card only after the close.
    @_semantics("no_performance_analysis")
    mutating func close() {
        guard let open = unsafe pcm else { return }
        unsafe TenfourSoundCard.close(open, timeout: 0)
        unsafe pcm = nil
    }

    /// Reopens a lost card at the rate granted `before`, with ALSA's rate conversion if the card has another rate now.
    /// Period, format and channel count may differ.
    static func reopened(
        _ name: String, _ direction: Direction, _ requested: RequestedParameters, before: NegotiatedParameters
    ) throws(SoundCardError) -> PCMDevice {
        var requested = requested
        requested.period = requested.period * before.rate / requested.format.rate.hertz
        requested.queue = requested.queue * before.rate / requested.format.rate.hertz
        requested.format.rate = SampleRate(hertz: before.rate)
        let plug = name.hasPrefix("hw:") ? "plug\(name)" : name
        for (name, resampling) in [(name, false), (name, true), (plug, true)] {
            let found = try PCMDevice(name, direction, requested, resampling: resampling)
            if found.negotiated.rate == before.rate { return found }
        }
        throw .failed(name, call: "snd_pcm_hw_params_set_rate_near", code: -EINVAL, explanation: "")
    }

    /// Starts an attempt to open the same card again.
    func beginReopening(_ reopening: CardReopening, _ changes: CardChanges) {
        reopening.begin(name, direction, requested, negotiated, changes)
    }

    /// Configures the PCM, without resampling plugins if possible.
    private static func configure(
        _ pcm: OpaquePointer, _ name: String, _ requested: RequestedParameters, resampling: Bool
    ) throws(SoundCardError) -> NegotiatedParameters {
        do throws(SoundCardError) {
            var parameters = try unsafe HardwareParameters.all(of: pcm, device: name, resampling: resampling)
            return try parameters.install(requested)
        } catch {
            var parameters = try unsafe HardwareParameters.all(of: pcm, device: name, resampling: true)
            return try parameters.install(requested)
        }
    }
}

// MARK: Audio thread
extension PCMDevice {
    /// Returns the card's state.
    @_noAllocation @_noLocks
    func observe() -> Observation {
        guard let pcm = unsafe pcm else {
            return Observation(closedAt: PCMCalls.now())
        }
        return unsafe PCMCalls.observe(pcm, status)
    }

    /// Blocks until the card signals a ready period, at most `timeout` nanoseconds.
    @_noAllocation @_noLocks
    func poll(atMost timeout: Int64) -> PollOutcome {
        guard let pcm = unsafe pcm, let first = unsafe descriptors.baseAddress else { return .abandoned }
        return unsafe PCMCalls.poll(pcm, first, UInt32(truncatingIfNeeded: descriptors.count), timeout: timeout)
    }

    /// Prepares the PCM. Returns zero or a negative errno, as do `start` and `resume`.
    @_noAllocation @_noLocks
    func prepare() -> Int32 {
        guard let pcm = unsafe pcm else { return -ENODEV }
        return unsafe PCMCalls.prepare(pcm)
    }

    @_noAllocation @_noLocks
    func start() -> Int32 {
        guard let pcm = unsafe pcm else { return -ENODEV }
        return unsafe PCMCalls.start(pcm)
    }

    @_noAllocation @_noLocks
    func resume() -> Int32 {
        guard let pcm = unsafe pcm else { return -ENODEV }
        return unsafe PCMCalls.resume(pcm)
    }

    /// Sets the number of free or ready frames at which `poll` returns.
    @_noAllocation @_noLocks
    func setAvailMin(_ frameCount: Int) {
        guard let pcm = unsafe pcm else { return }
        unsafe software.install(availMin: frameCount, on: pcm)
    }

    /// Converts and writes at most one period of `samples` (interleaved, `channelCount` per frame) from `firstFrame`
    /// on. Returns the number of frames written, or a negative errno. Does not block.
    @_noAllocation @_noLocks
    func write(_ samples: Span<Float>, channelCount: Int, from firstFrame: Int, frameCount: Int) -> Int {
        guard let pcm = unsafe pcm else { return Int(-ENODEV) }
        let count = frameCount < stagingCapacity ? frameCount : stagingCapacity
        unsafe negotiated.sampleFormat.encode(
            samples, channelCount: channelCount, from: firstFrame, frameCount: count, into: staging,
            cardChannelCount: negotiated.channelCount)
        return unsafe PCMCalls.write(pcm, staging, count)
    }

    /// Writes at most one period of silence. Returns the number of frames written, or a negative errno. Does not block.
    @_noAllocation @_noLocks
    func writeSilence(frameCount: Int) -> Int {
        guard let pcm = unsafe pcm else { return Int(-ENODEV) }
        let count = frameCount < stagingCapacity ? frameCount : stagingCapacity
        let bytes = count * negotiated.channelCount * negotiated.sampleFormat.byteCount
        for offset in 0..<bytes { unsafe staging.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self) }
        return unsafe PCMCalls.write(pcm, staging, count)
    }

    /// Writes silence, as many periods as `frameCount` needs. Returns the number of frames written. Does not block.
    @_noAllocation @_noLocks
    func writeSilence(upTo frameCount: Int) -> Int {
        var written = 0
        while written < frameCount {
            let taken = writeSilence(frameCount: frameCount - written)
            guard taken > 0 else { break }
            written += taken
        }
        return written
    }

    /// Reads and converts at most one period into `samples` at `firstFrame`. Returns the number of frames read, or a
    /// negative errno. Does not block.
    @_noAllocation @_noLocks
    func read(
        into samples: inout MutableSpan<Float>, channelCount: Int, from firstFrame: Int, frameCount: Int
    ) -> Int {
        guard let pcm = unsafe pcm else { return Int(-ENODEV) }
        let count = unsafe PCMCalls.read(pcm, staging, frameCount < stagingCapacity ? frameCount : stagingCapacity)
        guard count > 0 else { return count }
        unsafe negotiated.sampleFormat.decode(
            staging, cardChannelCount: negotiated.channelCount, into: &samples, channelCount: channelCount,
            from: firstFrame,
            frameCount: count)
        return count
    }

    /// Reads and discards at most one period. Returns the number of frames discarded, or a negative errno.
    @_noAllocation @_noLocks
    func discard(frameCount: Int) -> Int {
        guard let pcm = unsafe pcm else { return Int(-ENODEV) }
        return unsafe PCMCalls.read(pcm, staging, frameCount < stagingCapacity ? frameCount : stagingCapacity)
    }
}

extension SoundCardError {
    /// Creates the error for `code`, which `snd_pcm_open` returned.
    init(opening name: String, _ direction: Direction, code: Int32) {
        let explanation = ALSAMessages.last
        let isMissing = [ENOENT, ENODEV, ENXIO].contains(-code)
        let mayGoTheOtherWay = [ENOENT, EINVAL, ENXIO].contains(-code)
        switch -code {
        case _ where mayGoTheOtherWay && canOpen(name, direction == .playback ? .capture : .playback):
            self = .wrongDirection(name, direction)
        case _ where isMissing && name == "default" && !Device.kernelHasCards: self = .noCard(name)
        // ENOENT means that ALSA's configuration lacks the name; the other codes mean that the card is missing.
        case ENOENT, ENODEV, ENXIO: self = .noSuchDevice(name)
        case ECONNREFUSED, EHOSTDOWN: self = .noServer(name, explanation: explanation)
        case EBUSY: self = .busy(name, holder: holder(ofCardNamed: name, direction))
        case EACCES, EPERM: self = .notPermitted(name)
        default: self = .failed(name, call: "snd_pcm_open", code: code, explanation: explanation)
        }
    }
}

/// Opens a PCM; throws immediately if it is busy.
func openPCM(_ name: String, _ direction: Direction) throws(SoundCardError) -> OpaquePointer {
    var pcm: OpaquePointer?
    let code = unsafe snd_pcm_open(&pcm, name, direction.stream, SND_PCM_NONBLOCK)
    guard code >= 0, let pcm = unsafe pcm else { throw SoundCardError(opening: name, direction, code: code) }
    return unsafe pcm
}

private func canOpen(_ name: String, _ direction: Direction) -> Bool {
    var pcm: OpaquePointer?
    let code = unsafe snd_pcm_open(&pcm, name, direction.stream, SND_PCM_NONBLOCK)
    if let pcm = unsafe pcm, code >= 0 { unsafe snd_pcm_close(pcm) }
    return code >= 0 || code == -EBUSY
}

/// Returns the driver's name for the card; empty if there is none.
private func nameOfCard(behind pcm: OpaquePointer) -> String {
    var info: OpaquePointer?
    unsafe snd_pcm_info_malloc(&info)
    guard let info = unsafe info else { return "" }
    defer { unsafe snd_pcm_info_free(info) }
    guard unsafe snd_pcm_info(pcm, info) >= 0, let name = unsafe snd_pcm_info_get_name(info) else { return "" }
    return unsafe String(cString: name)
}

extension Direction {
    var stream: snd_pcm_stream_t { self == .playback ? SND_PCM_STREAM_PLAYBACK : SND_PCM_STREAM_CAPTURE }
}

extension PCMDevice {
    /// Sleeps until a capturing card has about `missing` more frames than in `seen`, at most `timeout` nanoseconds.
    /// Returns the reason if the card is lost.
    ///
    /// The first sleep of a `read` lasts for the duration of the missing frames. If frames are still missing afterwards
    /// (`isEarly`), because the card delivers bursts, the second sleep ends with the next burst (`poll`). With a whole
    /// period available, `poll` would return immediately, so the thread sleeps for at most a quarter of a period
    /// instead.
    @_noAllocation @_noLocks
    func sleep(for missing: Int, since seen: Observation, isEarly: Bool, atMost timeout: Int64) -> CardLoss? {
        let duration = nanoseconds(missing, at: negotiated.rate)
        guard isEarly, seen.available < negotiated.period else {
            let shortest = nanoseconds(negotiated.period, at: negotiated.rate) / 4
            let wake = isEarly ? PCMCalls.now() + (duration < shortest ? duration : shortest) : seen.at + duration
            let latest = PCMCalls.now() + timeout
            PCMCalls.sleep(until: (wake < latest ? wake : latest) + 100_000)
            return nil
        }
        let outcome = poll(atMost: (2 * duration < timeout ? 2 * duration : timeout) + 1_000_000)
        switch outcome {
        case .ready, .timedOut: return nil
        case .troubled, .abandoned:
            // An overrun ends the poll with an error too, so the new state decides whether the card is lost.
            let seen = observe()
            guard seen.code >= 0 else { return CardLoss(code: seen.code) }
            if case .giveUp(let loss) = RecoveryAction(poll: outcome, state: seen.state) { return loss }
            return nil
        }
    }

    /// Prepares a stopped PCM for a start after `cause`. Returns the reason if that is impossible, otherwise nil. A
    /// card that resumes slowly is given one second.
    @_noAllocation @_noLocks
    func makeReady(after cause: Interruption.Cause) -> CardLoss? {
        if case .suspended = cause {
            let deadline = PCMCalls.now() + nanosecondsPerSecond
            while PCMCalls.now() < deadline {
                // Checks the state as well as the result, since external plugins always report success.
                let code = resume()
                guard code == -EAGAIN || code == 0, case .suspended = observe().state else { break }
                PCMCalls.sleep(until: PCMCalls.now() + 10_000_000)
            }
        }
        // Prepares the PCM even after a successful resume, because the queued audio is old.
        let code = prepare()
        return code < 0 ? CardLoss(code: code) : nil
    }

    /// Sleeps until the queue is empty, at most for the buffer's length and half a second.
    func drain() {
        let rate = negotiated.rate
        let deadline = PCMCalls.now() + nanoseconds(negotiated.buffer, at: rate) + nanosecondsPerSecond / 2
        while PCMCalls.now() < deadline {
            let seen = observe()
            guard seen.code == 0, seen.state == .running, seen.delay > 0 else { return }
            PCMCalls.sleep(until: seen.at + nanoseconds(min(seen.delay, negotiated.period), at: rate))
        }
    }
}
