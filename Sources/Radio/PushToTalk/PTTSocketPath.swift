internal import Glibc

/// Where the control sockets of sessions are: `ptt-PID.sock` in a directory of the user's runtime directory.
public enum PTTSocketPath {
    /// The directory: `tenfour` in `$XDG_RUNTIME_DIR`. Without that variable in /run/user, and for root in /run. Nil if
    /// there is no such directory.
    public static var directory: String? {
        let user = geteuid()
        let named = unsafe getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) } ?? ""
        if named.hasPrefix("/") { return named + "/tenfour" }
        let usual = "/run/user/\(user)"
        if unsafe access(usual, W_OK) == 0 { return usual + "/tenfour" }
        return user == 0 ? "/run/tenfour" : nil
    }

    /// The path of this process's socket in `directory`.
    public static func own(in directory: String) -> String { "\(directory)/ptt-\(getpid()).sock" }

    /// The paths of the sockets in `directory`, the newest first. They may be those of processes that have ended.
    static func all(in directory: String) -> [String] {
        guard let folder = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(folder) }
        var found: [(path: String, time: timespec)] = []
        while found.count < maximumCount, let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            var status = stat()
            guard isSocketName(name), unsafe lstat("\(directory)/\(name)", &status) == 0,
                status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid()
            else { continue }
            found.append(("\(directory)/\(name)", status.st_mtim))
        }
        return found.sorted { ($0.time.tv_sec, $0.time.tv_nsec) > ($1.time.tv_sec, $1.time.tv_nsec) }.map(\.path)
    }

    /// The maximum number of sockets that are considered.
    private static let maximumCount = 256

    private static func isSocketName(_ name: String) -> Bool {
        guard name.hasPrefix("ptt-"), name.hasSuffix(".sock") else { return false }
        return Int32(name.dropFirst(4).dropLast(5)).map { $0 > 0 } ?? false
    }

    /// Makes the directory, which only its owner may enter.
    static func makeDirectory(_ directory: String) throws(PTTSocketError) {
        guard unsafe mkdir(directory, 0o700) != 0 else { return }
        let code = errno
        guard code == EEXIST else { throw .failed("cannot make the directory \(directory)", code) }
        var status = stat()
        guard unsafe lstat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid()
        else { throw .notOurs(directory) }
        guard status.st_mode & 0o077 == 0 else { throw .open(directory) }
    }
}

/// Why a control socket cannot be opened or reached.
public enum PTTSocketError: Error, Hashable, Sendable {
    /// The system call failed with this errno.
    case failed(String, Int32)
    /// The directory is a file, or belongs to another user.
    case notOurs(String)
    /// Others may enter the directory.
    case open(String)
    /// The path is longer than the 107 bytes that `sockaddr_un` holds.
    case tooLong(String)
    /// No session listens.
    case noSession
}

extension PTTSocketError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .failed(let act, let code): "\(act): \(unsafe String(cString: strerror(code)))"
        case .notOurs(let path): "\(path) is not a directory of yours: remove it, or set XDG_RUNTIME_DIR"
        case .open(let path): "others may enter \(path): run chmod 700 \(path)"
        case .tooLong(let path): "the path \(path) is too long for a socket: set XDG_RUNTIME_DIR to a shorter one"
        case .noSession: "no session runs: start `tenfour talk`, or name the session's socket with --socket"
        }
    }
}
