internal import Glibc

/// A value that one thread at a time may touch. Waits, so it is not for audio threads.
///
/// What `Synchronization.Mutex` is, on a POSIX mutex: how the former is passed on when two threads want it lies inside the
/// standard library, where the thread sanitizer does not see it and reports races that are none.
@safe package final class Locked<Value: ~Copyable & Sendable>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    package init(_ value: consuming Value) {
        unsafe pthread_mutex_init(mutex, nil)
        self.value = value
    }

    deinit {
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
    }

    package func withLock<Result: ~Copyable>(_ body: (inout Value) -> Result) -> Result {
        unsafe pthread_mutex_lock(mutex)
        defer { unsafe pthread_mutex_unlock(mutex) }
        return body(&value)
    }
}
