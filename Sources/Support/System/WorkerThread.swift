internal import CLinux
internal import Glibc

/// A thread that calls one closure. It has the priority of its creator, or normal priority if the creator has real-time
/// priority.
package struct WorkerThread: Sendable {
    private let thread: pthread_t

    /// Starts a thread that calls `body` once. If the system cannot create a thread, throws and does not call `body`.
    /// The C function is `pthread_create`.
    package init(_ body: @escaping @Sendable () -> Void) throws(ThreadError) {
        let argument = unsafe Unmanaged.passRetained(ThreadBody(body))
        var thread = pthread_t()
        let code = unsafe pthread_create(&thread, nil, runThreadBody, argument.toOpaque())
        guard code == 0 else {
            unsafe argument.release()
            throw ThreadError(code: code)
        }
        self.thread = thread
    }

    /// Starts a thread that is never joined.
    package static func detached(_ body: @escaping @Sendable () -> Void) throws(ThreadError) {
        try WorkerThread(body).detach()
    }

    /// Blocks until the closure has returned. Call it once. A call within the closure returns immediately.
    package func join() {
        if pthread_equal(thread, pthread_self()) != 0 { detach() } else { pthread_join(thread, nil) }
    }

    /// Lets the thread end by itself. Call it once, instead of `join`. The C function is `pthread_detach`.
    package func detach() { pthread_detach(thread) }
}

/// The system could not create a thread; `code` is the errno of `pthread_create`.
package struct ThreadError: Error, Hashable, Sendable {
    package let code: Int32
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

/// Linux's `SCHED_RESET_ON_FORK`, a flag that the kernel adds to the number of a scheduling policy.
private let resetOnFork: Int32 = 0x4000_0000

@c private func runThreadBody(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    // Sets normal priority if the thread has inherited real-time priority from its creator, which may be an audio
    // thread.
    let policy = sched_getscheduler(0) & ~resetOnFork
    if policy == SCHED_FIFO || policy == SCHED_RR {
        var normal = sched_param()
        unsafe pthread_setschedparam(pthread_self(), SCHED_OTHER, &normal)
    }
    unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
