import CALSA
import Glibc

/// A thread for audio: named `tf-audio…`, with its stack mapped at the start, and real-time priority if granted.
///
/// alsa-lib's messages on this thread do not reach stderr. A thread that is not joined runs until `body` returns.
@safe public struct AudioThread: ~Copyable {
    /// The prefix of every audio thread's name, by which tools find the audio threads in `/proc/self/task`.
    public static let namePrefix = "tf-audio"

    private let thread: pthread_t

    /// Starts the thread. It requests the real-time priority `priority` (`SCHED_FIFO`; nil requests none), calls `body`
    /// once with `work` and the outcome of this request, and ends when `body` returns. Throws if the system cannot
    /// create a thread.
    ///
    /// - `name`: the task of the thread, which follows `tf-audio-` in the thread's name. Use up to six characters,
    ///   since the kernel shows 15.
    ///
    /// - `touchedStackByteCount`: the depth of stack, in bytes, that is mapped before `body` begins; at least 32 KiB
    ///   are mapped.
    ///
    /// - `work`: the values that the thread owns, for example its card and its end of a ring.
    public init<Work: ~Copyable & Sendable>(
        _ name: String, priority: Int?, stackByteCount: Int = 1 << 20, touchedStackByteCount: Int = 0,
        work: consuming Work,
        body: @escaping @Sendable (consuming Work, RealTime) -> Void
    ) throws(AudioThreadError) {
        let box = Box(work)
        let touched = min(max(touchedStackByteCount, 1 << 15), stackByteCount / 2)
        let arguments = ThreadArguments(
            name: "\(Self.namePrefix)-\(name)", priority: priority, touchedStackByteCount: touched
        ) { outcome in
            // `body` receives the work here; afterwards the box is empty.
            if let work = box.take() { body(work, outcome) }
        }
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstacksize(&attributes, max(stackByteCount, 1 << 16))
        var thread = pthread_t()
        let argument = unsafe Unmanaged.passRetained(arguments)
        let code = unsafe pthread_create(&thread, &attributes, runAudioThread, argument.toOpaque())
        guard code == 0 else {
            unsafe argument.release()
            throw AudioThreadError(code: code)
        }
        self.thread = thread
    }

    /// Blocks until `body` has returned. Before the call, ask `body` to return, through state that both threads share.
    public consuming func join() {
        pthread_join(thread, nil)
        discard self
    }

    deinit { pthread_detach(thread) }
}

/// The system could not create a thread; `code` is the errno of `pthread_create`.
public struct AudioThreadError: Error, Hashable, Sendable, CustomStringConvertible {
    public let code: Int32

    public var description: String {
        "the audio thread cannot be started: \(ALSAMessages.text(-code)); close other programs or raise `ulimit -u`"
    }
}

/// The arguments of a new thread.
private final class ThreadArguments {
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

/// Carries a noncopyable value into a closure. It is filled before the thread starts, and emptied on the new thread.
private final class Box<Work: ~Copyable> {
    private var work: Work?

    init(_ work: consuming Work) { self.work = consume work }

    func take() -> Work? { work.take() }
}

/// The start of every audio thread (`pthread_create`).
@c private func runAudioThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    let arguments = unsafe Unmanaged<ThreadArguments>.fromOpaque(argument).takeRetainedValue()
    nameThisThread(arguments.name)
    ALSAMessages.divertFromTerminal()
    calsa_touch_stack(arguments.touchedStackByteCount)
    arguments.run(arguments.priority.map(RealTime.request) ?? .notAsked)
    return nil
}

/// Names the calling thread, with at most 15 characters. The C function is `pthread_setname_np`.
private func nameThisThread(_ name: String) { _ = unsafe calsa_name_this_thread(String(name.prefix(15))) }
