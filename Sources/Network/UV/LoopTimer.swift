import CUV
public import TenfourAudioCore

/// Calls back once, at a deadline or shortly after. Use it on the loop's thread only. The C type is `uv_timer_t`.
@safe public final class LoopTimer: LoopHandle {
    private let timer: UnsafeMutablePointer<uv_timer_t>
    private var fire: (() -> Void)?

    /// The deadline for which the timer is armed; nil if it has fired or was never armed.
    public private(set) var deadline: Instant?

    init(on loop: EventLoop, _ fire: @escaping () -> Void) throws(NetworkError) {
        unsafe timer = try Self.initialised("uv_timer_init") { unsafe uv_timer_init(loop.loop, $0) }
        self.fire = fire
        unsafe super.init(adopting: timer)
    }

    /// Arms the timer: it fires once, never before `deadline` and usually less than 2 ms after it, or immediately if
    /// the deadline has passed. Replaces an earlier deadline; arming for the same deadline again costs nothing. The C
    /// function is `uv_timer_start`.
    public func arm(at deadline: Instant) {
        if isClosed || deadline == self.deadline { return }
        self.deadline = deadline
        // Computes the delay from libuv's clock, because libuv adds it to that clock: our clock in whole milliseconds,
        // as libuv read it when it last waited.
        let due = UInt64(clamping: deadline.nanoseconds)
        let milliseconds = due / 1_000_000 + (due % 1_000_000 == 0 ? 0 : 1)
        let now = unsafe uv_now(timer.pointee.loop)
        let code = unsafe uv_timer_start(timer, timerFired, milliseconds > now ? milliseconds - now : 0, 0)
        assert(code == 0)
    }

    /// Disarms the timer. The C function is `uv_timer_stop`.
    public func disarm() {
        if isClosed || deadline == nil { return }
        deadline = nil
        unsafe uv_timer_stop(timer)
    }

    override func willClose() {
        deadline = nil
        fire = nil
    }

    fileprivate func deadlineReached() {
        deadline = nil
        fire?()
    }
}

@c private func timerFired(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
    guard let timer = unsafe timer else { return }
    unsafe LoopHandle.owner(of: timer, as: LoopTimer.self).deadlineReached()
}
