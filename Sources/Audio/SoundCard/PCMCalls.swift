import CALSA
import Glibc
import TenfourAudioCore
import TenfourClocks

/// All C calls of an audio thread after its card is open, with one function for each.
///
/// Exempt from the allocation check (`no_performance_analysis`), since the compiler cannot check C functions; reviewers
/// must. In each call alsa-lib takes a mutex of its own, which only our thread takes. Only `setAvailMin` allocates; it
/// is not called during normal playback.
enum PCMCalls {
    /// Calls `snd_pcm_writei`. Returns the number of frames written, or a negative errno.
    @_semantics("no_performance_analysis")
    static func write(_ pcm: OpaquePointer, _ bytes: UnsafeRawPointer, _ frameCount: Int) -> Int {
        unsafe snd_pcm_writei(pcm, bytes, snd_pcm_uframes_t(frameCount))
    }

    /// Calls `snd_pcm_readi`. Returns the number of frames read, or a negative errno.
    @_semantics("no_performance_analysis")
    static func read(_ pcm: OpaquePointer, _ bytes: UnsafeMutableRawPointer, _ frameCount: Int) -> Int {
        unsafe snd_pcm_readi(pcm, bytes, snd_pcm_uframes_t(frameCount))
    }

    /// Calls `snd_pcm_prepare`. Returns zero or a negative errno.
    @_semantics("no_performance_analysis")
    static func prepare(_ pcm: OpaquePointer) -> Int32 { unsafe snd_pcm_prepare(pcm) }

    /// Calls `snd_pcm_start`. Returns zero or a negative errno.
    @_semantics("no_performance_analysis")
    static func start(_ pcm: OpaquePointer) -> Int32 { unsafe snd_pcm_start(pcm) }

    /// Calls `snd_pcm_resume`. Returns zero, `-EAGAIN` while the card wakes, `-ENOSYS` if the card cannot resume, or
    /// another negative errno.
    @_semantics("no_performance_analysis")
    static func resume(_ pcm: OpaquePointer) -> Int32 { unsafe snd_pcm_resume(pcm) }

    /// Calls `snd_pcm_sw_params` with another `avail_min`. Allocates if the PCM belongs to PipeWire, whose ALSA plugin
    /// then sends a message to its server.
    @_semantics("no_performance_analysis")
    static func setAvailMin(_ pcm: OpaquePointer, _ parameters: OpaquePointer, _ frameCount: Int) {
        unsafe snd_pcm_sw_params_set_avail_min(pcm, parameters, snd_pcm_uframes_t(frameCount))
        unsafe snd_pcm_sw_params(pcm, parameters)
    }

    /// Calls `snd_pcm_status` and reads the clock before and after the call.
    @_semantics("no_performance_analysis")
    static func observe(_ pcm: OpaquePointer, _ status: OpaquePointer) -> Observation {
        var before = now()
        var code = unsafe snd_pcm_status(pcm, status)
        var after = now()
        if after - before > 50_000 {
            // Tries once more, since the thread was preempted during the call and the time of the position is unknown.
            before = after
            code = unsafe snd_pcm_status(pcm, status)
            after = now()
        }
        var stamp = timespec()
        unsafe snd_pcm_status_get_htstamp(status, &stamp)
        let stamped = Int64(stamp.tv_sec) * nanosecondsPerSecond + Int64(stamp.tv_nsec)
        // Uses the driver's timestamp only if it is at most 100 ms old: some plugins give none, or one of another
        // clock.
        let isOurs = stamped <= after && after - stamped < nanosecondsPerSecond / 10
        var seen = Observation(closedAt: isOurs ? stamped : before + (after - before) / 2)
        seen.code = code
        seen.state = unsafe PCMState(snd_pcm_status_get_state(status))
        seen.available = unsafe Int(bitPattern: snd_pcm_status_get_avail(status))
        seen.delay = unsafe snd_pcm_status_get_delay(status)
        return seen
    }

    /// Polls the PCM's descriptors for at most `timeout` nanoseconds, rounded up to a millisecond, and lets ALSA
    /// interpret the result.
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

    /// The time in nanoseconds of `CLOCK_MONOTONIC`.
    @_noAllocation @_noLocks
    static func now() -> Int64 { MonotonicClock.now.nanoseconds }

    /// Sleeps until `moment`, in nanoseconds of `CLOCK_MONOTONIC`; returns immediately if `moment` is past.
    @_semantics("no_performance_analysis")
    static func sleep(until moment: Int64) {
        var time = timespec(
            tv_sec: Int(moment / nanosecondsPerSecond), tv_nsec: Int(moment % nanosecondsPerSecond))
        while unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
    }
}

/// The state of a PCM at one moment.
struct Observation {
    /// The result of `snd_pcm_status`. The other fields are valid if it is zero.
    var code: Int32 = -ENODEV
    var state = PCMState.disconnected
    /// For capture, the number of captured frames that can be read. For playback, the number of frames for which the
    /// buffer has free space.
    var available = 0
    /// The number of frames between the application and the loudspeaker or microphone, including the card's FIFO.
    var delay = 0
    /// The time of the observation, in nanoseconds of `CLOCK_MONOTONIC`; the driver's timestamp if it is usable.
    var at: Int64

    /// Creates the observation of a closed PCM at `moment`.
    @_noAllocation @_noLocks
    init(closedAt moment: Int64) { at = moment }
}
