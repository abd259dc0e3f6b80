internal import Glibc
public import TenfourMediaSource
internal import TenfourRings
internal import TenfourUV

/// A thread that carries out downloads, any number of them, and keeps connections for the next.
public final class HTTPLoop: Sendable {
    private let duty: HTTPThreadBody
    private let thread: Locked<pthread_t?>

    /// Throws where the system gives no thread, or too many files are open.
    public init() throws(ByteSourceError) {
        var code: Int32
        var thread = pthread_t()
        do throws(NetworkError) {
            duty = try HTTPThreadBody()
            let argument = unsafe Unmanaged.passRetained(duty)
            code = unsafe pthread_create(&thread, nil, runDuty, argument.toOpaque())
            if code != 0 {
                unsafe argument.release()
                throw NetworkError(.refused, function: "pthread_create", code: code)
            }
        } catch {
            throw .failed("\(error)")
        }
        self.thread = Locked(thread)
    }

    deinit { stop() }

    /// Breaks off what is being downloaded, and returns when the thread is done.
    public func stop() {
        let thread = thread.withLock { $0.take() }
        guard let thread else { return }
        perform { duty in duty.stop() }
        // The last to let go may be a job of the thread itself.
        if pthread_equal(thread, pthread_self()) != 0 { pthread_detach(thread) } else { pthread_join(thread, nil) }
    }

    /// Has `job` done on the thread, after those before it. False, and nothing happens, once the loop has stopped.
    @discardableResult
    func perform(_ job: @escaping @Sendable (HTTPThreadBody) -> Void) -> Bool { duty.take(job) }

    /// The same, and returns when it is done. Not from a job.
    func performAndWait(_ job: @escaping @Sendable (HTTPThreadBody) -> Void) {
        let done = Done()
        let isTaken = perform { duty in
            job(duty)
            done.tell()
        }
        if isTaken { done.wait() }
    }
}

/// What the thread does. Made on one thread and run on its own; only what is said to be shared is used by both.
@safe final class HTTPThreadBody: @unchecked Sendable {
    /// Shared. nil once no more are taken.
    private let jobs = Locked<[@Sendable (HTTPThreadBody) -> Void]?>([])
    private let wakeup: Wakeup

    let loop: EventLoop
    private var transfers: CurlMulti?
    private var fetches: [ObjectIdentifier: HTTPFetch] = [:]

    fileprivate init() throws(NetworkError) {
        let loop = try EventLoop()
        self.loop = loop
        let woken = Woken()
        wakeup = try loop.makeWakeup { woken.duty?.woken() }
        woken.duty = self
    }

    /// Any thread.
    fileprivate func take(_ job: @escaping @Sendable (HTTPThreadBody) -> Void) -> Bool {
        let isTaken = jobs.withLock { jobs in
            jobs?.append(job)
            return jobs != nil
        }
        if isTaken { wakeup.signal() }
        return isTaken
    }

    fileprivate func run() {
        // Signals are for the program's own threads; SIGPIPE comes of a server that hangs up.
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
        loop.run()
        // Those who came too late wait no longer.
        for job in jobs.withLock({ $0.take() }) ?? [] { job(self) }
        for fetch in fetches.values { fetch.stop() }
        transfers?.close()
        loop.closeAll()
    }

    /// On the thread. Made for the first who asks: a player of files has a loop, too, and perhaps no libcurl.
    func multi() throws(NetworkError) -> CurlMulti {
        if let transfers { return transfers }
        let made = try CurlMulti(on: loop)
        transfers = made
        return made
    }

    /// On the thread: those whose readers are told when it ends.
    func keep(_ fetch: HTTPFetch) { fetches[ObjectIdentifier(fetch)] = fetch }
    func forget(_ fetch: HTTPFetch) { fetches[ObjectIdentifier(fetch)] = nil }

    fileprivate func woken() {
        let due = jobs.withLock { jobs in
            defer { if jobs != nil { jobs = [] } }
            return jobs
        }
        for job in due ?? [] { job(self) }
    }

    fileprivate func stop() { loop.stop() }
}

/// Callbacks are made before the one they call.
private final class Woken {
    weak var duty: HTTPThreadBody?
}

@c private func runDuty(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let argument = unsafe argument { unsafe Unmanaged<HTTPThreadBody>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
}

/// That something is done, told to one who waits.
@safe private final class Done: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    init() { unsafe sem_init(semaphore, 0, 0) }

    deinit {
        unsafe sem_destroy(semaphore)
        unsafe semaphore.deallocate()
    }

    func tell() { unsafe sem_post(semaphore) }

    func wait() { while unsafe sem_wait(semaphore) != 0 {} }
}
