import Glibc
import TenfourChannelKeys
import TenfourRadio

/// Reads a passphrase from the keyboard without echo, or from standard input.
enum PassphraseInput {
    private static let maximumByteCount = 1_024

    /// Reads one line; at a terminal the line is typed twice, for confirmation. Throws `.usage` for a missing or weak
    /// passphrase. `tag` is random for each channel.
    static func read(tag: UInt64) throws(RadioError) -> Passphrase {
        guard isAsked else { return try passphrase(try line(), tag) }
        Terminal.log(rules)
        let first = try ask("passphrase: ")
        let passphrase = try passphrase(first, tag)
        guard try ask("the same passphrase again: ") == first else {
            throw RadioError(.usage, "the two passphrases differ: try again")
        }
        return passphrase
    }

    private static func passphrase(_ text: String, _ tag: UInt64) throws(RadioError) -> Passphrase {
        do throws(PassphraseError) { return try Passphrase(text, tag: tag) } catch {
            throw RadioError(.usage, error.description)
        }
    }

    /// Whether the passphrase is typed at a terminal.
    static var isAsked: Bool { isatty(STDIN_FILENO) == 1 }

    private static let rules = """
        Use at least five different words of three letters or more, or another passphrase whose strength tenfour estimates at \
        \(Int(Passphrase.minimumBitCount)) bits or more.
        \(warning)
        """

    /// The warning about attacks on a passphrase.
    static let warning = """
        Anybody with a recording of the channel, and any relay, can try passphrases offline
        and unnoticed, and finds a weak one. A random secret cannot be guessed.
        """

    private static func ask(_ prompt: String) throws(RadioError) -> String {
        Terminal.draw(prompt)
        // Catches the signals that end or stop the process, which would leave the terminal without echo.
        Signals.catchEnd()
        let stopping = signal(SIGTSTP, SIG_IGN)
        var settings = termios()
        unsafe tcgetattr(STDIN_FILENO, &settings)
        var silent = settings
        silent.c_lflag &= ~UInt32(ECHO)
        unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent)
        defer {
            unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
            signal(SIGTSTP, stopping)
            Terminal.draw("\n")
        }
        return try line()
    }

    /// Reads one line, byte by byte, since other code reads the rest of standard input.
    private static func line() throws(RadioError) -> String {
        var bytes: [UInt8] = []
        while bytes.count <= maximumByteCount {
            // Waits with `poll`, which a signal interrupts. A signal does not interrupt `read`.
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&input, 1, -1) < 0 {
                if Signals.hasEnd { break } else { continue }
            }
            var byte: UInt8 = 0
            guard unsafe Glibc.read(STDIN_FILENO, &byte, 1) == 1, byte != UInt8(ascii: "\n") else { break }
            bytes.append(byte)
        }
        guard !Signals.hasEnd, !bytes.isEmpty else {
            throw RadioError(.usage, "no passphrase was given: type one, or write it to standard input")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RadioError(.usage, "the passphrase is not UTF-8: type it in a UTF-8 terminal")
        }
        return text
    }
}
