internal import CLinux
internal import Glibc
internal import TenfourAudioCore

/// Runs hooks, a bounded number at once, and kills those that take too long. The C function is `posix_spawnp`.
///
/// One thread at a time may use it. It never waits for a hook, except in `finish`.
struct HookRunner: ~Copyable {
    /// The number of runs that were dropped because too many waited.
    private(set) var droppedCount = 0
    private(set) var startedCount = 0

    private var running: [Child] = []
    private var waiting: [RecordingHook.Run] = []

    private struct Child {
        var process: pid_t
        var deadline: Instant
    }

    static let maximumCount = 4
    static let timeLimit = Duration.seconds(10)
    /// The number of runs that may wait for others to end.
    private static let maximumWaitingCount = 64

    deinit { for child in running { kill(-child.process, SIGKILL) } }

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
                running.append(Child(process: try spawn(run), deadline: now + Self.timeLimit))
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
            kill(-child.process, SIGKILL)
            var status: Int32 = 0
            unsafe waitpid(child.process, &status, 0)
        }
        running = []
    }

    private mutating func collect(at now: Instant) {
        running.removeAll { child in
            // The group is killed before its leader is collected, because the number of the group may be used again then.
            if now >= child.deadline { kill(-child.process, SIGKILL) }
            var status: Int32 = 0
            let process = unsafe waitpid(child.process, &status, WNOHANG)
            return process == child.process || process < 0 && errno == ECHILD
        }
    }

    private func spawn(_ run: RecordingHook.Run) throws(HookError) -> pid_t {
        var files = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        unsafe posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO)
        _ = unsafe clinux_close_from(&files, STDERR_FILENO + 1)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // A group of its own is killed as a whole, and gets no Ctrl-C of the terminal.
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let environment = Self.inherited() + run.environment.map { "\($0.key)=\($0.value)" }
        var arguments = unsafe run.arguments.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe arguments.indices { unsafe free(arguments[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        var process = pid_t()
        let code = unsafe posix_spawnp(&process, run.arguments[0], &files, &attributes, &arguments, &variables)
        guard code == 0 else { throw HookError(program: run.arguments[0], code: code) }
        return process
    }

    /// The variables of this process but for ours.
    private static func inherited() -> [String] {
        var variables: [String] = []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let variable = unsafe String(cString: text)
            if !variable.hasPrefix("TENFOUR_"), !variable.hasPrefix("TRANSMISSION_") { variables.append(variable) }
            unsafe entry += 1
        }
        return variables
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
