internal import Glibc

/// A value behind a mutex. `withLock` blocks while another thread holds the lock, so it is not for audio threads.
///
/// Like `Synchronization.Mutex`, but on a POSIX mutex: the thread sanitizer does not see how the standard library hands a
/// contended mutex over, and reports races that do not exist.
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
