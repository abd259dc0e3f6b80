internal import Glibc

/// A value behind a mutex. `withLock` blocks while another thread has the lock, so it is not for audio threads.
///
/// Like `Synchronization.Mutex`, but with a POSIX mutex. With the standard library's mutex, the thread sanitizer
/// reports races that do not exist, since it does not recognise how a contended mutex is passed on.
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
