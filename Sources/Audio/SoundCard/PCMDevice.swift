import CALSA
import Glibc
import TenfourAudioCore

/// One open PCM with the memory it needs, closed when it goes. The C functions are `snd_pcm_open` and `snd_pcm_close`.
///
/// It is opened non-blocking: callers wait in `poll`, in `rest` or asleep, for a bounded time. Opening and closing allocate and may
/// take long; what happens in between does neither. A closed one answers `-ENODEV`. Belongs to one thread at a time.
@safe struct PCMDevice: ~Copyable {
    let name: String
    let direction: Direction
    /// What the card calls itself.
    let cardName: String
    let grant: NegotiatedParameters

    private let wish: RequestedParameters
    private let software: SoftwareParameters
    private var pcm: OpaquePointer?
    private let status: OpaquePointer
    private let descriptors: UnsafeMutableBufferPointer<pollfd>
    /// A period of the card's own samples; zeros only where `isQuiet`.
    private let staging: UnsafeMutableRawPointer
    /// In frames.
    private let stagingCapacity: Int

    /// Opens `name` as it is and takes the nearest to `wish`.
    ///
    /// - `resampling`: lets ALSA's plugins convert the rate where the card has another.
    init(_ name: String, _ direction: Direction, _ wish: RequestedParameters, resampling: Bool = false) throws(SoundCardError) {
        Explanation.keepOffTheTerminal()
        let pcm = try unsafe openPCM(name, direction)
        var grant: NegotiatedParameters
        let software: SoftwareParameters
        do throws(SoundCardError) {
            grant = try unsafe PCMDevice.configure(pcm, name, wish, resampling: resampling)
            grant.allot(wish, direction)
            software = try unsafe SoftwareParameters.installed(
                on: pcm, device: name, availMin: grant.period, buffer: grant.buffer)
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
        self.wish = wish
        self.grant = grant
        self.software = software
        cardName = unsafe nameOfCard(behind: pcm)
        unsafe self.pcm = pcm
        unsafe self.status = status
        unsafe descriptors = .allocate(capacity: max(1, Int(snd_pcm_poll_descriptors_count(pcm))))
        unsafe descriptors.initialize(repeating: pollfd())
        let byteCount = grant.period * grant.channelCount * grant.sampleFormat.byteCount
        unsafe staging = .allocate(byteCount: byteCount, alignment: 16)
        unsafe staging.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
        stagingCapacity = grant.period
    }

    deinit {
        if let pcm = unsafe pcm { unsafe TenfourSoundCard.close(pcm, patience: nanosecondsPerSecond) }
        unsafe snd_pcm_status_free(status)
        unsafe descriptors.deallocate()
        unsafe staging.deallocate()
    }

    /// Lets go of the card, which a kernel waits for before it gives a replugged one the same name. Does not wait for it.
    @_semantics("no_performance_analysis")
    mutating func close() {
        guard let open = unsafe pcm else { return }
        unsafe TenfourSoundCard.close(open, patience: 0)
        unsafe pcm = nil
    }

    /// Opens a card that was lost, at the rate that was granted `before`: by ALSA's conversion where it has another now. Its period,
    /// format and channels may be others.
    static func reopened(
        _ name: String, _ direction: Direction, _ wish: RequestedParameters, before: NegotiatedParameters
    ) throws(SoundCardError) -> PCMDevice {
        var wish = wish
        wish.period = wish.period * before.rate / wish.format.rate.hertz
        wish.queue = wish.queue * before.rate / wish.format.rate.hertz
        wish.format.rate = SampleRate(hertz: before.rate)
        let plug = name.hasPrefix("hw:") ? "plug\(name)" : name
        for (name, resampling) in [(name, false), (name, true), (plug, true)] {
            let found = try PCMDevice(name, direction, wish, resampling: resampling)
            if found.grant.rate == before.rate { return found }
        }
        throw .failed(name, call: "snd_pcm_hw_params_set_rate_near", code: -EINVAL, explanation: "")
    }

    /// Looks for a lost card when `search` says that it is time, on a thread of its own. Returns true when this is the card again.
    mutating func isBack(_ search: inout Backoff?, _ reopening: inout CardReopening, _ changes: CardChanges) -> Bool {
        let now = PCMCalls.now()
        guard let attempt = search?.step(reopening.outcome, now: now) else { return false }
        switch attempt {
        case .begin: reopening.begin(name, direction, wish, grant, changes)
        case .abandon:
            reopening = CardReopening()
            reopening.begin(name, direction, wish, grant, changes)
        case .wait: break
        case .take:
            guard let found = reopening.take() else { return false }
            self = found
            return true
        }
        return false
    }

    /// With resampling plugins kept out where that leaves anything.
    private static func configure(
        _ pcm: OpaquePointer, _ name: String, _ wish: RequestedParameters, resampling: Bool
    ) throws(SoundCardError) -> NegotiatedParameters {
        do throws(SoundCardError) {
            var parameters = try unsafe HardwareParameters.all(of: pcm, device: name, resampling: resampling)
            return try parameters.install(wish)
        } catch {
            var parameters = try unsafe HardwareParameters.all(of: pcm, device: name, resampling: true)
            return try parameters.install(wish)
        }
    }
}

// What an audio thread does with it.
extension PCMDevice {
    /// Where the card stands.
    @_noAllocation @_noLocks
    func observe() -> Observation {
        guard let pcm = unsafe pcm else {
            return Observation(closedAt: PCMCalls.now())
        }
        return unsafe PCMCalls.observe(pcm, status)
    }

    /// Waits until the card wakes us (a period is ready), at most `timeout` nanoseconds.
    @_noAllocation @_noLocks
    func poll(atMost timeout: Int64) -> PollOutcome {
        guard let pcm = unsafe pcm, let first = unsafe descriptors.baseAddress else { return .abandoned }
        return unsafe PCMCalls.poll(pcm, first, UInt32(truncatingIfNeeded: descriptors.count), timeout: timeout)
    }

    /// Zero or a negative errno, as from the next two.
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

    /// Tells the card at how many free or ready frames `poll` shall say so.
    @_noAllocation @_noLocks
    func setAvailMin(_ frameCount: Int) {
        guard let pcm = unsafe pcm else { return }
        unsafe software.install(availMin: frameCount, on: pcm)
    }

    /// Hands at most a period of `samples` (interleaved, `channelCount` a frame) to the card from `firstFrame` on, converted.
    /// Returns how many frames it took, or a negative errno. Does not wait.
    @_noAllocation @_noLocks
    func write(_ samples: Span<Float>, channelCount: Int, from firstFrame: Int, frameCount: Int) -> Int {
        guard let pcm = unsafe pcm else { return Int(-ENODEV) }
        let count = frameCount < stagingCapacity ? frameCount : stagingCapacity
        unsafe grant.sampleFormat.encode(
            samples, channelCount: channelCount, from: firstFrame, frameCount: count, into: staging,
            cardChannelCount: grant.channelCount)
        return unsafe PCMCalls.write(pcm, staging, count)
    }

    /// Hands at most a period of silence to the card, as above.
    @_noAllocation @_noLocks
    func writeSilence(frameCount: Int) -> Int {
        guard let pcm = unsafe pcm else { return Int(-ENODEV) }
        let count = frameCount < stagingCapacity ? frameCount : stagingCapacity
        let bytes = count * grant.channelCount * grant.sampleFormat.byteCount
        for offset in 0..<bytes { unsafe staging.storeBytes(of: 0, toByteOffset: offset, as: UInt8.self) }
        return unsafe PCMCalls.write(pcm, staging, count)
    }

    /// Takes at most a period from the card and puts it into `samples` at `firstFrame`, converted. Returns how many frames
    /// it gave, or a negative errno. Does not wait.
    @_noAllocation @_noLocks
    func read(
        into samples: inout MutableSpan<Float>, channelCount: Int, from firstFrame: Int, frameCount: Int
    ) -> Int {
        guard let pcm = unsafe pcm else { return Int(-ENODEV) }
        let count = unsafe PCMCalls.read(pcm, staging, frameCount < stagingCapacity ? frameCount : stagingCapacity)
        guard count > 0 else { return count }
        unsafe grant.sampleFormat.decode(
            staging, cardChannelCount: grant.channelCount, into: &samples, channelCount: channelCount, from: firstFrame,
            frameCount: count)
        return count
    }

    /// Takes at most a period from the card and forgets it.
    @_noAllocation @_noLocks
    func discard(frameCount: Int) -> Int {
        guard let pcm = unsafe pcm else { return Int(-ENODEV) }
        return unsafe PCMCalls.read(pcm, staging, frameCount < stagingCapacity ? frameCount : stagingCapacity)
    }
}

extension SoundCardError {
    /// Why `snd_pcm_open` returned `code`.
    init(opening name: String, _ direction: Direction, code: Int32) {
        let explanation = Explanation.last
        let isMissing = [ENOENT, ENODEV, ENXIO].contains(-code)
        let mayGoTheOtherWay = [ENOENT, EINVAL, ENXIO].contains(-code)
        switch -code {
        case _ where mayGoTheOtherWay && canOpen(name, direction == .playback ? .capture : .playback):
            self = .wrongDirection(name, direction)
        case _ where isMissing && name == "default" && !Device.kernelHasCards: self = .noCard(name)
        // ENOENT is for a name that is not in ALSA's configuration, the others for a card that is not there.
        case ENOENT, ENODEV, ENXIO: self = .noSuchDevice(name)
        case ECONNREFUSED, EHOSTDOWN: self = .noServer(name, explanation: explanation)
        case EBUSY: self = .busy(name, holder: holder(ofCardNamed: name, direction))
        case EACCES, EPERM: self = .notPermitted(name)
        default: self = .failed(name, call: "snd_pcm_open", code: code, explanation: explanation)
        }
    }
}

/// Opens a PCM without waiting for one that is busy.
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

/// The name its driver gives the card, empty where there is none.
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
    /// Sleeps until a capturing card has `missing` more frames than in `seen`, or nearly, at most `patience` nanoseconds. Returns
    /// why there is no card to wait for any more, if that is what it finds.
    ///
    /// The first time of a turn it sleeps for as long as the frames take. A card that moves many at a time may not have them
    /// then (`isEarly`): it wakes us with its next step, unless what is there would wake us at once.
    @_noAllocation @_noLocks
    func rest(for missing: Int, since seen: Observation, isEarly: Bool, atMost patience: Int64) -> CardLoss? {
        let duration = nanoseconds(missing, at: grant.rate)
        guard isEarly, seen.available < grant.period else {
            let shortest = nanoseconds(grant.period, at: grant.rate) / 4
            let wake = isEarly ? PCMCalls.now() + (duration < shortest ? duration : shortest) : seen.at + duration
            let latest = PCMCalls.now() + patience
            PCMCalls.sleep(until: (wake < latest ? wake : latest) + 100_000)
            return nil
        }
        let outcome = poll(atMost: (2 * duration < patience ? 2 * duration : patience) + 1_000_000)
        switch outcome {
        case .ready, .timedOut: return nil
        case .troubled, .abandoned:
            // An underrun looks like trouble, too; only the state, asked anew, tells.
            let seen = observe()
            guard seen.code >= 0 else { return CardLoss(code: seen.code) }
            if case .giveUp(let loss) = Remedy(poll: outcome, state: seen.state) { return loss }
            return nil
        }
    }

    /// Makes a stopped PCM ready to start after `cause`, or says why it cannot be. A card that takes its time to wake with
    /// the machine is given a second.
    @_noAllocation @_noLocks
    func makeReady(after cause: Interruption.Cause) -> CardLoss? {
        if case .suspended = cause {
            let deadline = PCMCalls.now() + nanosecondsPerSecond
            while PCMCalls.now() < deadline {
                // External plugins say "resumed" whatever came of it, so the state has the last word.
                let code = resume()
                guard code == -EAGAIN || code == 0, case .suspended = observe().state else { break }
                PCMCalls.sleep(until: PCMCalls.now() + 10_000_000)
            }
        }
        // After a resume too: what is left in the queue is of another time.
        let code = prepare()
        return code < 0 ? CardLoss(code: code) : nil
    }
}
