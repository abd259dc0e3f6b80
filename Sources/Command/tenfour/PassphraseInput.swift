import Glibc
import TenfourChannelKeys
import TenfourRadio

/// A passphrase from the keyboard, without showing it, or from standard input.
enum PassphraseInput {
    private static let maximumByteCount = 1_024

    /// The first line. Asks for it twice at a terminal. Throws `.usage` where there is none, or one that is easy to guess.
    /// `tag` is drawn anew for each channel.
    static func read(tag: UInt64) throws(RadioError) -> Passphrase {
        guard isAsked else { return try passphrase(try line(), tag) }
        Terminal.say(rules)
        let first = try ask("passphrase: ")
        let passphrase = try passphrase(first, tag)
        guard try ask("again: ") == first else { throw RadioError(.usage, "the two differ: begin anew") }
        return passphrase
    }

    private static func passphrase(_ text: String, _ tag: UInt64) throws(RadioError) -> Passphrase {
        do throws(PassphraseError) { return try Passphrase(text, tag: tag) } catch {
            throw RadioError(.usage, error.description)
        }
    }

    /// Whether somebody is asked for it at a terminal.
    static var isAsked: Bool { isatty(STDIN_FILENO) == 1 }

    private static let rules = """
        Five different words or more, each of three letters at least; or what comes to \(Int(Passphrase.minimumBitCount)) bits \
        by our estimate.
        \(warning)
        """

    /// What a secret of one's own is worth.
    static let warning = """
        Whoever keeps a recording of the channel, and any relay, can try passphrases offline,
        at leisure and unseen: a weak one will be found. A secret that is drawn cannot be guessed.
        """

    private static func ask(_ prompt: String) throws(RadioError) -> String {
        Terminal.draw(prompt)
        // What ends or stops us while nothing is shown must not leave the terminal so.
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

    /// Byte by byte: what follows is another's.
    private static func line() throws(RadioError) -> String {
        var bytes: [UInt8] = []
        while bytes.count <= maximumByteCount {
            // Signals end this wait, but not a `read`.
            var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            if unsafe poll(&input, 1, -1) < 0 {
                if Signals.hasEnd { break } else { continue }
            }
            var byte: UInt8 = 0
            guard unsafe Glibc.read(STDIN_FILENO, &byte, 1) == 1, byte != UInt8(ascii: "\n") else { break }
            bytes.append(byte)
        }
        guard !Signals.hasEnd, !bytes.isEmpty else { throw RadioError(.usage, "no passphrase was given") }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw RadioError(.usage, "the passphrase is not UTF-8")
        }
        return text
    }
}
