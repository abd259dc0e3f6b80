import CALSA
import Glibc

/// Every C call that an audio thread makes after its card is open, one function each.
///
/// The compiler cannot look into C, so these are exempt from its check for hidden work (`no_performance_analysis`): what
/// a reviewer has to believe is this list. alsa-lib takes a mutex of its own in each, which only our thread ever takes,
/// and allocates in none of them but `setAvailMin`, which is not called while sound goes well.
enum PCMCalls {
    /// `snd_pcm_writei`: the frames that were taken, or a negative errno.
    @_semantics("no_performance_analysis")
    static func write(_ pcm: OpaquePointer, _ bytes: UnsafeRawPointer, _ frameCount: Int) -> Int {
        unsafe snd_pcm_writei(pcm, bytes, snd_pcm_uframes_t(frameCount))
    }

    /// `snd_pcm_readi`: the frames that were given, or a negative errno.
    @_semantics("no_performance_analysis")
    static func read(_ pcm: OpaquePointer, _ bytes: UnsafeMutableRawPointer, _ frameCount: Int) -> Int {
        unsafe snd_pcm_readi(pcm, bytes, snd_pcm_uframes_t(frameCount))
    }

    /// `snd_pcm_prepare`: zero or a negative errno.
    @_semantics("no_performance_analysis")
    static func prepare(_ pcm: OpaquePointer) -> Int32 { unsafe snd_pcm_prepare(pcm) }

    /// `snd_pcm_start`: zero or a negative errno.
    @_semantics("no_performance_analysis")
    static func start(_ pcm: OpaquePointer) -> Int32 { unsafe snd_pcm_start(pcm) }

    /// `snd_pcm_resume`: zero, `-EAGAIN` while the card wakes, `-ENOSYS` where it cannot, or another negative errno.
    @_semantics("no_performance_analysis")
    static func resume(_ pcm: OpaquePointer) -> Int32 { unsafe snd_pcm_resume(pcm) }

    /// `snd_pcm_sw_params` with another `avail_min`. PipeWire's plugin tells its server, for which it allocates.
    @_semantics("no_performance_analysis")
    static func setAvailMin(_ pcm: OpaquePointer, _ parameters: OpaquePointer, _ frameCount: Int) {
        unsafe snd_pcm_sw_params_set_avail_min(pcm, parameters, snd_pcm_uframes_t(frameCount))
        unsafe snd_pcm_sw_params(pcm, parameters)
    }

    /// `snd_pcm_status` and the clock around it.
    @_semantics("no_performance_analysis")
    static func observe(_ pcm: OpaquePointer, _ status: OpaquePointer) -> Observation {
        var before = now()
        var code = unsafe snd_pcm_status(pcm, status)
        var after = now()
        if after - before > 50_000 {
            // We were held up in between, so that the position belongs to an unknown moment: once more.
            before = after
            code = unsafe snd_pcm_status(pcm, status)
            after = now()
        }
        var stamp = timespec()
        unsafe snd_pcm_status_get_htstamp(status, &stamp)
        let stamped = Int64(stamp.tv_sec) * nanosecondsPerSecond + Int64(stamp.tv_nsec)
        // Not every plugin stamps, and some by another clock than ours.
        let isOurs = stamped <= after && after - stamped < nanosecondsPerSecond / 10
        var seen = Observation(closedAt: isOurs ? stamped : before + (after - before) / 2)
        seen.code = code
        seen.state = unsafe PCMState(snd_pcm_status_get_state(status))
        seen.available = unsafe Int(bitPattern: snd_pcm_status_get_avail(status))
        seen.delay = unsafe snd_pcm_status_get_delay(status)
        return seen
    }

    /// `poll` on the PCM's descriptors for at most `timeout` nanoseconds (and the rest of a millisecond), and what ALSA makes of the result.
    @_semantics("no_performance_analysis")
    static func poll(
        _ pcm: OpaquePointer, _ descriptors: UnsafeMutablePointer<pollfd>, _ capacity: UInt32, timeout: Int64
    ) -> PollOutcome {
        let count = unsafe snd_pcm_poll_descriptors(pcm, descriptors, capacity)
        guard count > 0 else { return .abandoned }
        let milliseconds = Int32(truncatingIfNeeded: timeout / 1_000_000 + 1)
        guard unsafe Glibc.poll(descriptors, nfds_t(count), milliseconds) > 0 else { return .timedOut }
        for index in 0..<Int(count) {
            if unsafe descriptors[index].revents & Int16(POLLNVAL) != 0 { return .abandoned }
        }
        var events: UInt16 = 0
        let code = unsafe snd_pcm_poll_descriptors_revents(pcm, descriptors, UInt32(count), &events)
        if code == -ENODEV || events & UInt16(POLLHUP | POLLNVAL) != 0 { return .abandoned }
        if code < 0 || events & UInt16(POLLERR) != 0 { return .troubled }
        return events & UInt16(POLLIN | POLLOUT) != 0 ? .ready : .timedOut
    }

    /// Nanoseconds of `CLOCK_MONOTONIC`.
    @_semantics("no_performance_analysis")
    static func now() -> Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * nanosecondsPerSecond + Int64(time.tv_nsec)
    }

    /// Sleeps until `moment`, nanoseconds of `CLOCK_MONOTONIC`; returns at once when it is past.
    @_semantics("no_performance_analysis")
    static func sleep(until moment: Int64) {
        var time = timespec(
            tv_sec: Int(moment / nanosecondsPerSecond), tv_nsec: Int(moment % nanosecondsPerSecond))
        while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}

/// Where a PCM stood at one moment.
struct Observation {
    /// What `snd_pcm_status` returned. The rest means something when it is zero.
    var code: Int32 = -ENODEV
    var state = PCMState.disconnected
    /// Frames that a capturing card has ready, or that a playing one has room for.
    var available = 0
    /// Frames from the application's end of the queue to the air, the card's own FIFO included.
    var delay = 0
    /// Nanoseconds of `CLOCK_MONOTONIC`, by the driver's own stamp where it gives one.
    var at: Int64

    /// Of a PCM that is closed.
    @_noAllocation @_noLocks
    init(closedAt moment: Int64) { at = moment }
}
