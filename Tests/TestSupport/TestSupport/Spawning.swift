import Glibc

/// Starts a process with the C function `posix_spawn`.
struct Spawning {
    private let path: String
    private let arguments: [String]
    private let environment: [String]

    /// `POSIX_SPAWN_SETSID`, a GNU extension.
    private static let newSession: Int16 = 0x80

    init(_ name: String, _ arguments: [String], in folder: Folder?, _ changes: [String: String]) throws {
        let path = try Self.find(name)
        if let folder {
            // posix_spawn has no portable way to set the working directory.
            self.path = try Self.find("env")
            self.arguments = ["env", "-C", folder.path, path] + arguments
        } else {
            self.path = path
            self.arguments = [name] + arguments
        }
        var environment = Self.inherited
        // Settings for `tenfour` in the environment of the person who runs the tests must not affect them.
        environment = environment.filter { !$0.key.hasPrefix("TENFOUR_") && $0.key != "XDG_STATE_HOME" }
        // Neither must the person's own files, such as the volumes of talkers.
        if changes["HOME"] == nil { environment["XDG_STATE_HOME"] = Self.stateFolder.path }
        environment.merge(changes) { $1 }
        self.environment = environment.map { "\($0.key)=\($0.value)" }
    }

    func spawn(
        input: Program.Stream, output: Program.Stream, errors: String, keepingOutputIn kept: String, terminal: String?
    ) throws -> pid_t {
        var files = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&files)
        defer { unsafe posix_spawn_file_actions_destroy(&files) }
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }

        // Dispatch threads block signals, and a child would inherit this.
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        var flags = Int16(POSIX_SPAWN_SETSIGMASK)

        if let terminal {
            // The first terminal that a session leader opens becomes its controlling terminal.
            flags |= Self.newSession
            unsafe posix_spawn_file_actions_addopen(&files, 0, terminal, O_RDWR, 0)
            unsafe posix_spawn_file_actions_adddup2(&files, 0, 1)
            unsafe posix_spawn_file_actions_adddup2(&files, 0, 2)
        } else {
            switch input {
            case .own: unsafe posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0)
            case .descriptor(let number): unsafe posix_spawn_file_actions_adddup2(&files, number, 0)
            }
            switch output {
            case .own: unsafe posix_spawn_file_actions_addopen(&files, 1, kept, O_WRONLY | O_CREAT, 0o600)
            case .descriptor(let number): unsafe posix_spawn_file_actions_adddup2(&files, number, 1)
            }
            unsafe posix_spawn_file_actions_addopen(&files, 2, errors, O_WRONLY | O_CREAT, 0o600)
        }

        unsafe posix_spawnattr_setflags(&attributes, flags)

        var process: pid_t = 0
        let code = unsafe Self.withVector(arguments) { arguments in
            unsafe Self.withVector(environment) { environment in
                unsafe posix_spawn(&process, path, &files, &attributes, arguments, environment)
            }
        }
        guard code == 0 else { throw MissingProgram(name: "\(path) (\(unsafe String(cString: strerror(code))))") }
        return process
    }

    /// The folder of this package's programs, which is also the folder of the test runner.
    static let ownFolder: String = {
        let path = unsafe realpath("/proc/self/exe", nil)
        defer { unsafe free(path) }
        let own = unsafe path.map { unsafe String(cString: $0) }?.split(separator: "/").dropLast() ?? []
        return "/" + own.joined(separator: "/")
    }()

    /// The folder for the state of all programs of this test run, empty at its start.
    private static let stateFolder = Folder()

    static func find(_ name: String) throws -> String {
        let folders =
            [ownFolder] + (inherited["PATH"] ?? "").split(separator: ":").map(String.init)
        for folder in folders where unsafe access("\(folder)/\(name)", X_OK) == 0 { return "\(folder)/\(name)" }
        throw MissingProgram(name: name)
    }

    /// The environment at the start of the tests, since another thread may change it.
    static let inherited: [String: String] = {
        var variables: [String: String] = [:]
        for entry in Folder.text(of: "/proc/self/environ").split(separator: "\0") {
            let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
        }
        return variables
    }()

    private static func withVector<Result>(
        _ strings: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        var vector = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe vector.indices { unsafe free(vector[index]) } }
        return unsafe vector.withUnsafeMutableBufferPointer { unsafe body($0.baseAddress!) }
    }
}
