import CALSA
import Glibc

/// A thread for sound: named `tf-audio…`, with a stack of its own that is there from the start, real-time where granted.
///
/// alsa-lib's messages about it stay off stderr. Not joined, it goes on by itself.
@safe public struct AudioThread: ~Copyable {
    /// What every audio thread's name begins with, so that a tool finds them in `/proc/self/task`.
    public static let namePrefix = "tf-audio"

    private let thread: pthread_t

    /// Starts the thread, which calls `body` once with `work` and what became of the wish for `priority` (`SCHED_FIFO`,
    /// nil for none), and ends with it. Throws when the system has no thread to give.
    ///
    /// - `name`: what it does, after `tf-audio-`: six letters, the kernel shows no more.
    /// - `touchedStackByteCount`: how deep the stack is used: the kernel maps it before `body` begins, 32 KiB at the least.
    /// - `work`: what the thread shall own: its card, its end of a handoff.
    public init<Work: ~Copyable & Sendable>(
        _ name: String, priority: Int?, stackByteCount: Int = 1 << 20, touchedStackByteCount: Int = 0,
        work: consuming Work,
        body: @escaping @Sendable (consuming Work, RealTime) -> Void
    ) throws(AudioThreadError) {
        let box = Box(work)
        let touched = min(max(touchedStackByteCount, 1 << 15), stackByteCount / 2)
        let launch = Launch(
            name: "\(Self.namePrefix)-\(name)", priority: priority, touchedStackByteCount: touched
        ) { outcome in
            // Taken once, here.
            if let work = box.take() { body(work, outcome) }
        }
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, max(stackByteCount, 1 << 16))
        var thread = pthread_t()
        let argument = unsafe Unmanaged.passRetained(launch)
        let code = unsafe pthread_create(&thread, &attributes, runAudioThread, argument.toOpaque())
        guard code == 0 else {
            unsafe argument.release()
            throw AudioThreadError(code: code)
        }
        self.thread = thread
    }

    /// Waits until `body` has returned. Whoever wants that soon tells it to return by what it shares with it.
    public consuming func join() {
        pthread_join(thread, nil)
        discard self
    }

    deinit { pthread_detach(thread) }
}

/// The system gave no thread; `code` is the errno of `pthread_create`.
public struct AudioThreadError: Error, Hashable, Sendable, CustomStringConvertible {
    public let code: Int32

    public var description: String {
        "no audio thread: \(Explanation.text(-code)); close other programs or raise `ulimit -u`"
    }
}

/// What a new thread needs to know.
private final class Launch {
    let name: String
    let priority: Int?
    let touchedStackByteCount: Int
    let run: (RealTime) -> Void

    init(name: String, priority: Int?, touchedStackByteCount: Int, run: @escaping (RealTime) -> Void) {
        self.name = name
        self.priority = priority
        self.touchedStackByteCount = touchedStackByteCount
        self.run = run
    }
}

/// Carries a value that cannot be copied into a closure. Filled before the thread starts and emptied on it.
private final class Box<Work: ~Copyable> {
    private var work: Work?

    init(_ work: consuming Work) { self.work = consume work }

    func take() -> Work? { work.take() }
}

/// The start of every audio thread (`pthread_create`).
@c private func runAudioThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let launch = unsafe Unmanaged<Launch>.fromOpaque(argument).takeRetainedValue()
    nameThisThread(launch.name)
    Explanation.keepOffTheTerminal()
    calsa_touch_stack(launch.touchedStackByteCount)
    launch.run(launch.priority.map(RealTime.request) ?? .notAsked)
    return nil
}

/// The C function is `pthread_setname_np`.
private func nameThisThread(_ name: String) { _ = unsafe calsa_name_this_thread(String(name.prefix(15))) }
