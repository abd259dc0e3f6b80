private import Glibc

/// Measures the number of bytes of stack that a function needs.
enum StackDepth {
    /// The size, in bytes, of the stack on which the measured function runs: 512 KiB, more than libopus needs.
    private static let byteCount = 1 << 19
    /// The value of each byte of the stack before the measured function is called.
    private static let mark: UInt8 = 0xA5

    /// Calls `work` on a new thread with its own stack, and returns the number of bytes of the stack that were used. If
    /// no memory or no thread is available, calls `work` on this thread and returns 0.
    static func measure(_ work: () -> Void) -> Int {
        withoutActuallyEscaping(work) { work in
            run(work)
        }
    }

    private static func run(_ work: @escaping () -> Void) -> Int {
        var stack: UnsafeMutableRawPointer?
        guard unsafe posix_memalign(&stack, 4_096, byteCount) == 0, let stack = unsafe stack else {
            work()
            return 0
        }
        defer { unsafe free(stack) }
        unsafe memset(stack, Int32(mark), byteCount)
        var attributes = pthread_attr_t()
        unsafe pthread_attr_init(&attributes)
        defer { unsafe pthread_attr_destroy(&attributes) }
        unsafe pthread_attr_setstack(&attributes, stack, byteCount)
        let box = MeasuredWork(work)
        var thread = pthread_t()
        let argument = unsafe Unmanaged.passUnretained(box).toOpaque()
        guard unsafe pthread_create(&thread, &attributes, runWork, argument) == 0 else {
            work()
            return 0
        }
        pthread_join(thread, nil)
        // The stack grows downwards, so the unused bytes are at the beginning.
        let untouched = unsafe UnsafeRawBufferPointer(start: stack, count: byteCount).prefix { $0 == mark }.count
        return byteCount - untouched
    }
}

private final class MeasuredWork {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

@c private func runWork(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument = unsafe argument {
        unsafe Unmanaged<MeasuredWork>.fromOpaque(argument).takeUnretainedValue().body()
    }
    return nil
}
