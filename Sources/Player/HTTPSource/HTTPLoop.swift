internal import Glibc
public import TenfourMediaSource
internal import TenfourSystem
internal import TenfourUV

/// A thread that performs any number of downloads and keeps connections open for reuse.
public final class HTTPLoop: Sendable {
    private let body: HTTPLoopThread
    private let thread: Locked<WorkerThread?>

    /// Starts the thread. Throws if no thread can be created or too many files are open.
    public init() throws(ByteSourceError) {
        do throws(NetworkError) {
            let body = try HTTPLoopThread()
            self.body = body
            do throws(ThreadError) {
                thread = Locked(try WorkerThread { body.run() })
            } catch {
                throw NetworkError(error)
            }
        } catch {
            throw .failed("\(error)", kind: .resourcesExhausted)
        }
    }

    deinit { stop() }

    /// Cancels all downloads and waits until the thread has ended.
    public func stop() {
        let thread = thread.withLock { $0.take() }
        guard let thread else { return }
        perform { body in body.stop() }
        // Waits for the thread. If a job on this thread has released the last reference to the loop, `join` returns
        // immediately.
        thread.join()
    }

    /// Runs `job` on the thread, after earlier jobs. Returns false, and does nothing, once the loop has stopped.
    @discardableResult
    func perform(_ job: @escaping @Sendable (HTTPLoopThread) -> Void) -> Bool { body.enqueue(job) }

    /// Runs `job` on the thread and waits until it is done. Must not be called from a job.
    func performAndWait(_ job: @escaping @Sendable (HTTPLoopThread) -> Void) {
        let done = CompletionSignal()
        let isQueued = perform { body in
            job(body)
            done.signal()
        }
        if isQueued { done.wait() }
    }
}

/// The work of the loop's thread. Created by the caller's thread and then run on the loop's thread; other threads use
/// only members marked as shared.
@safe final class HTTPLoopThread: @unchecked Sendable {
    /// The jobs that wait; nil after the end, when no more jobs are accepted. Shared by all threads.
    private let jobs = Locked<[@Sendable (HTTPLoopThread) -> Void]?>([])
    private let wakeup: Wakeup

    let loop: EventLoop
    private var transfers: CurlMulti?
    private var fetches: [ObjectIdentifier: HTTPFetch] = [:]

    fileprivate init() throws(NetworkError) {
        let loop = try EventLoop()
        self.loop = loop
        let target = CallbackTarget<HTTPLoopThread>()
        wakeup = try loop.makeWakeup { target.target?.runJobs() }
        target.target = self
    }

    /// Appends a job; returns false if the loop has ended. Any thread may call it.
    fileprivate func enqueue(_ job: @escaping @Sendable (HTTPLoopThread) -> Void) -> Bool {
        let isQueued = jobs.withLock { jobs in
            jobs?.append(job)
            return jobs != nil
        }
        if isQueued { wakeup.signal() }
        return isQueued
    }

    fileprivate func run() {
        // Blocks all signals, which the program's other threads handle. SIGPIPE would otherwise arrive here when a
        // server closes the connection.
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
        loop.run()
        // Runs the jobs that still wait, so that their callers do not wait forever.
        for job in jobs.withLock({ $0.take() }) ?? [] { job(self) }
        for fetch in fetches.values { fetch.stop() }
        transfers?.close()
        loop.closeAll()
    }

    /// Returns the handle of the transfers. The first call creates it, and not `init`: libcurl may not be installed,
    /// and a loop may be used for local files only. Call it only on the loop's thread.
    func multi() throws(NetworkError) -> CurlMulti {
        if let transfers { return transfers }
        let made = try CurlMulti(on: loop)
        transfers = made
        return made
    }

    /// Adds a fetch, which is stopped when the loop ends. Call it only on the loop's thread.
    func add(_ fetch: HTTPFetch) { fetches[ObjectIdentifier(fetch)] = fetch }
    func remove(_ fetch: HTTPFetch) { fetches[ObjectIdentifier(fetch)] = nil }

    fileprivate func runJobs() {
        let due = jobs.withLock { jobs in
            defer { if jobs != nil { jobs = [] } }
            return jobs
        }
        for job in due ?? [] { job(self) }
    }

    fileprivate func stop() { loop.stop() }
}

/// Lets one thread wait until another has finished a job.
@safe private final class CompletionSignal: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { unsafe sem_init(semaphore, 0, 0) }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func signal() { unsafe sem_post(semaphore) }

    func wait() { while unsafe sem_wait(semaphore) != 0 {} }
}
