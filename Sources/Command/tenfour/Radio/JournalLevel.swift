import Glibc

/// The level of a line for systemd's journal (sd-daemon(3)).
enum JournalLevel: Int {
    case error = 3
    case warning = 4
    case info = 6

    /// The beginning of a line. It is empty unless the journal reads standard error.
    var prefix: String { Self.isRead ? "<\(rawValue)>" : "" }

    /// JOURNAL_STREAM names the device and the inode of the stream that the journal reads (systemd.exec(5)). The variable
    /// alone says nothing, because every program that a service starts inherits it, with another stream perhaps.
    private static let isRead: Bool = {
        var status = stat()
        guard let stream = unsafe getenv("JOURNAL_STREAM"), unsafe fstat(STDERR_FILENO, &status) == 0 else {
            return false
        }
        return unsafe String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
    }()
}
