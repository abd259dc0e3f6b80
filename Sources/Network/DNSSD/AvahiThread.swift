internal import TenfourAudioCore
internal import TenfourClocks
internal import TenfourDBus
internal import TenfourPacing
internal import TenfourSystem

/// The exchange with avahi-daemon on a thread of its own. All methods run on that thread.
protocol AvahiTask: Sendable {
    /// The daemon is there, and knows nothing of us yet. All paths of an earlier daemon's objects are void.
    mutating func begin(_ avahi: borrowing Avahi) throws(BusError)
    /// The daemon has sent a signal.
    mutating func receive(_ signal: BusSignal, _ avahi: borrowing Avahi) throws(BusError)
    /// `deadline` has passed.
    mutating func timeElapsed(_ avahi: borrowing Avahi) throws(BusError)
    /// The daemon is not there, or no longer. All paths of its objects are void.
    mutating func end(_ failure: DiscoveryFailure)
    var deadline: ContinuousClock.Instant? { get }
}

/// A thread that is connected to the system bus, waits for avahi-daemon and runs a task with it. After a failure it
/// connects again.
final class AvahiThread: Sendable {
    private let stopping: StopSignal

    /// The time limit for each call of the daemon.
    static let callLimit = Duration.seconds(5)
    private static let firstPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(30)

    /// Starts the thread. `busAddress` nil means the system bus.
    init(
        busAddress: String?, callLimit: Duration = callLimit, _ task: some AvahiTask
    ) throws(DiscoveryError) {
        do {
            let stopping = try StopSignal()
            self.stopping = stopping
            try WorkerThread.detached {
                var run = AvahiRun(task, busAddress: busAddress, callLimit: callLimit, stopping)
                run.untilStopped()
            }
        } catch {
            throw DiscoveryError()
        }
    }

    deinit { stop() }

    /// Ends the thread soon, and does not wait for it. The daemon forgets what was asked of it.
    func stop() { stopping.stop() }

    private struct AvahiRun<Task: AvahiTask> {
        private var task: Task
        private let busAddress: String?
        private let callLimit: Duration
        private let stopping: StopSignal
        private var backoff = Backoff(first: firstPause, longest: longestPause, spread: 0.8...1.2)

        init(_ task: Task, busAddress: String?, callLimit: Duration, _ stopping: StopSignal) {
            self.task = task
            self.busAddress = busAddress
            self.callLimit = callLimit
            self.stopping = stopping
        }

        private var isStopped: Bool { stopping.isStopped }

        mutating func untilStopped() {
            var generator = SystemRandomNumberGenerator()
            while !isStopped {
                do throws(BusError) {
                    try serve()
                } catch {
                    task.end(DiscoveryFailure(error))
                    if case .noLibrary = error { return }
                }
                if isStopped { return }
                stopping.wakeup.wait(atMost: Int32(backoff.next(using: &generator) / .milliseconds(1)))
            }
        }

        /// Runs the task until `stop`. Throws when the connection is lost.
        private mutating func serve() throws(BusError) {
            let avahi = Avahi(try MessageBus(address: busAddress, callLimit: callLimit))
            try avahi.bus.addMatch(
                "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Avahi.service)'")
            try avahi.bus.addMatch("type='signal',sender='\(Avahi.service)'")
            var owner = try avahi.bus.owner(of: Avahi.service)
            try ownerChanged(to: owner, avahi)
            while !isStopped {
                while let signal = try avahi.bus.nextSignal() {
                    if signal.sender == BusObject.bus.service, signal.member == "NameOwnerChanged" {
                        guard signal.arguments.count == 3, case .text(let new) = signal.arguments[2] else { continue }
                        guard new != owner ?? "" else { continue }
                        owner = new.isEmpty ? nil : new
                        try ownerChanged(to: owner, avahi)
                    } else if signal.sender == owner {
                        // Any program may send signals that look like the daemon's, so the sender decides.
                        try task.receive(signal, avahi)
                    }
                }
                if let deadline = task.deadline, deadline <= .now {
                    try task.timeElapsed(avahi)
                    continue
                }
                let left = task.deadline.map { ContinuousClock.now.duration(to: $0) }
                try avahi.bus.wait(
                    orFor: stopping.wakeup.descriptor, atMost: PollTimeout.milliseconds(in: left, atMost: 3_600_000))
            }
        }

        private mutating func ownerChanged(to owner: String?, _ avahi: borrowing Avahi) throws(BusError) {
            guard owner != nil else { return task.end(.noDaemon) }
            try task.begin(avahi)
            backoff.succeeded()
        }
    }
}

/// The system could start no thread for DNS-SD.
public struct DiscoveryError: Error, Hashable, Sendable, CustomStringConvertible {
    public var description: String { "the system can start no thread to find stations nearby; close other programs" }
}

extension DiscoveryFailure {
    init(_ error: BusError) {
        switch error {
        case .noLibrary: self = .noLibrary
        case .noBus: self = .noBus
        case .noService: self = .noDaemon
        case .refused, .timedOut, .wrongAnswer, .failed:
            self = .failed(String(fromPeer: error.description, limit: 200))
        }
    }
}
