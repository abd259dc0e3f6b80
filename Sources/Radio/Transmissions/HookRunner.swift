internal import Glibc
internal import TenfourAudioCore
internal import TenfourSystem

/// Runs hooks, a bounded number at once, and kills those that take too long.
///
/// One thread at a time may use it. It never waits for a hook, except in `finish`.
struct HookRunner: ~Copyable {
    /// The number of runs that were dropped because too many waited.
    private(set) var droppedCount = 0
    private(set) var startedCount = 0

    private var running: [Child] = []
    private var waiting: [RecordingHook.Run] = []

    private struct Child {
        var process: SpawnedProcess
        var deadline: Instant
    }

    static let maximumCount = 4
    static let timeLimit = Duration.seconds(10)
    /// The number of runs that may wait for others to end.
    private static let maximumWaitingCount = 64

    deinit { for child in running { child.process.kill() } }

    /// Whether a hook runs or waits.
    var isBusy: Bool { !running.isEmpty || !waiting.isEmpty }

    /// Adds a run, which `poll` starts.
    mutating func add(_ run: RecordingHook.Run) {
        guard waiting.count < Self.maximumWaitingCount else {
            droppedCount += 1
            return
        }
        waiting.append(run)
    }

    /// Starts what waits, collects what has ended, and kills what takes too long. Returns a message if a hook could not be
    /// started.
    mutating func poll(at now: Instant) -> String? {
        collect(at: now)
        var message: String?
        while running.count < Self.maximumCount, !waiting.isEmpty {
            let run = waiting.removeFirst()
            do throws(HookError) {
                running.append(Child(process: try Self.start(run), deadline: now + Self.timeLimit))
                startedCount += 1
            } catch {
                message = error.description
            }
        }
        return message
    }

    /// Lets the hooks run to their end for at most `timeLimit` in sum, then kills them. `clock` returns the present.
    mutating func finish(_ clock: () -> Instant) {
        let deadline = clock() + Self.timeLimit
        while isBusy, clock() < deadline {
            _ = poll(at: clock())
            if isBusy { usleep(10_000) }
        }
        droppedCount += waiting.count
        waiting = []
        for child in running {
            child.process.kill()
            child.process.wait()
        }
        running = []
    }

    private mutating func collect(at now: Instant) {
        running.removeAll { child in
            if now >= child.deadline { child.process.kill() }
            return child.process.collect() != nil
        }
    }

    private static func start(_ run: RecordingHook.Run) throws(HookError) -> SpawnedProcess {
        // The output of a hook is for the user, like an error.
        do throws(SpawnError) {
            return try SpawnedProcess(
                run.arguments, environment: inherited() + run.environment.map { "\($0.key)=\($0.value)" },
                output: STDERR_FILENO, errors: STDERR_FILENO)
        } catch {
            throw HookError(program: run.arguments[0], code: error.code)
        }
    }

    /// The variables of this process but for ours.
    private static func inherited() -> [String] {
        SpawnedProcess.environment.filter { !$0.hasPrefix("TENFOUR_") && !$0.hasPrefix("TRANSMISSION_") }
    }
}

/// The system could not start a hook.
struct HookError: Error, CustomStringConvertible {
    var program: String
    /// The errno.
    var code: Int32

    var description: String {
        "the hook \(program) cannot be started: \(unsafe String(cString: strerror(code))); correct --record-hook"
    }
}
