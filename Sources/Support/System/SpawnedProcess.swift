internal import CLinux
internal import Glibc

/// A program that this process has started, in a process group of its own. The C functions are `posix_spawnp`, `waitpid`
/// and `kill`.
///
/// The program reads nothing, gets the default action of every signal, and has no descriptor but the three standard
/// ones. The group gets no Ctrl-C of the terminal. Exactly one call of `collect` that returns a status, or of `wait`, is
/// due for each process: until then the system keeps the process's number.
package struct SpawnedProcess: Hashable, Sendable {
    /// The number of the process and of its group.
    package let id: Int32

    /// Starts the program `arguments[0]`, which is looked for in `PATH` if it contains no slash. Its standard output is
    /// `output`, and its standard error is `errors`, or nowhere if that is nil. `environment` has variables as
    /// `NAME=value`; nil means those of this process. Throws the errno; ENOENT if there is no such program.
    package init(
        _ arguments: [String], environment: [String]? = nil, output: Int32, errors: Int32?
    ) throws(SpawnError) {
        var files = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        unsafe posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO)
        if let errors {
            unsafe posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO)
        } else {
            unsafe posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }
        _ = unsafe clinux_close_from(&files, STDERR_FILENO + 1)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var variables = unsafe (environment ?? Self.environment).map { unsafe strdup($0) } + [nil]
        defer {
            for index in unsafe words.indices { unsafe free(words[index]) }
            for index in unsafe variables.indices { unsafe free(variables[index]) }
        }
        var process = pid_t()
        let code = unsafe posix_spawnp(&process, arguments[0], &files, &attributes, &words, &variables)
        guard code == 0 else { throw SpawnError(code: code) }
        id = process
    }

    /// The variables of this process, as `NAME=value`.
    package static var environment: [String] {
        var variables: [String] = []
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            variables.append(unsafe String(cString: text))
            unsafe entry += 1
        }
        return variables
    }

    /// Kills the process and its children. Must not be called after `collect` or `wait` has returned a status, because
    /// the number of the group may be used again then.
    package func kill() { _ = Glibc.kill(-id, SIGKILL) }

    /// Returns how the process has ended; nil if it runs. Does not wait.
    package func collect() -> End? {
        var status: Int32 = 0
        let process = unsafe waitpid(id, &status, WNOHANG)
        if process == id { return End(status) }
        return process < 0 && errno == ECHILD ? .unknown : nil
    }

    /// Waits until the process has ended, and returns how.
    @discardableResult
    package func wait() -> End {
        var status: Int32 = 0
        while true {
            if unsafe waitpid(id, &status, 0) == id { return End(status) }
            if errno != EINTR { return .unknown }
        }
    }

    /// How a process has ended.
    package enum End: Hashable, Sendable {
        case exit(code: Int32)
        case signal(Int32)
        /// Another part of this process has collected it, or ignores SIGCHLD.
        case unknown

        fileprivate init(_ status: Int32) {
            self = status & 0x7F == 0 ? .exit(code: status >> 8 & 0xFF) : .signal(status & 0x7F)
        }
    }
}

/// The system could not start a program; `code` is the errno.
package struct SpawnError: Error, Hashable, Sendable {
    package let code: Int32
}
