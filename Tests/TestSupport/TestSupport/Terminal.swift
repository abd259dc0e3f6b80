public import Glibc

/// A pseudo-terminal: the output of programs is kept, and a test can type into it.
@safe public final class Terminal {
    /// The path that a program opens.
    public let device: String
    /// All output so far, in order, with its escape sequences.
    public var shown: String { String(decoding: bytes, as: UTF8.self) }
    /// The same in one line: a long notice is broken between words.
    public var inOneLine: String { shown.replacing("\r\n", with: " ") }

    private var bytes: [UInt8] = []
    private var master: Int32
    /// The end that programs use. It is kept open so that the terminal and its settings remain after the program has
    /// ended.
    private var slave: Int32

    /// `TIOCGPTN` and `TIOCSPTLCK`.
    private static let getNumber: UInt = 0x8004_5430
    private static let setLock: UInt = 0x4004_5431

    public init(columns: UInt16 = 100, rows: UInt16 = 24) {
        master = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        var number: Int32 = 0
        var isLocked: Int32 = 0
        let isThere = unsafe ioctl(master, Self.getNumber, &number) == 0 && ioctl(master, Self.setLock, &isLocked) == 0
        precondition(isThere, "a terminal can be made")
        device = "/dev/pts/\(number)"
        slave = unsafe open(device, O_RDWR | O_NOCTTY | O_CLOEXEC)
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    deinit { hangUp() }

    /// Closes the terminal, as somebody who closes its window does.
    public func hangUp() {
        if master >= 0 { close(master) }
        if slave >= 0 { close(slave) }
        (master, slave) = (-1, -1)
    }

    /// Changes the size of the terminal, which redraws nothing by itself.
    public func resize(columns: UInt16, rows: UInt16 = 24) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(master, UInt(TIOCSWINSZ), &size)
    }

    public func type(_ keys: String) { unsafe write(master, keys, keys.utf8.count) }

    /// The flags of `termios.c_lflag`, which control the handling of input.
    public var localModes: tcflag_t {
        var settings = termios()
        unsafe tcgetattr(slave, &settings)
        return settings.c_lflag
    }

    /// The visible lines, without overwritten text.
    public var lines: [String] {
        // The sequences around a drawing take no place in a line.
        let text = shown.replacing("\u{1B}[?7l", with: "").replacing("\u{1B}[?7h", with: "")
        return text.replacing("\r\n", with: "\n").split(separator: "\n").map { line in
            String(line.split(separator: "\r").last ?? "")
                .replacing("\u{1B}[K", with: "").replacing("\u{1B}[J", with: "")
        }
    }

    /// The texts that a status line has shown, oldest first. Each is the output that follows a clearing of the line.
    public var statuses: [String] {
        shown.split(whereSeparator: \.isNewline).flatMap { $0.split(separator: "\r") }
            .filter { $0.hasPrefix("\u{1B}[K") }.map { String($0.dropFirst(3)) }.filter { !$0.isEmpty }
    }

    /// Reads the output that is available.
    func read() {
        var room = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = unsafe Glibc.read(master, &room, room.count)
            guard count > 0 else { return }
            bytes += room[..<count]
        }
    }
}
