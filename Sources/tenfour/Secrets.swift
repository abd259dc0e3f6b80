import Glibc
import Synchronization

/// Secrets among arguments and in the environment: taken out before anything else happens, so that neither `ps` nor an error
/// shows them.
enum Secrets {
    /// A channel's link.
    static let link = "TENFOUR_LINK"
    /// A key of SRTP.
    static let key = "TENFOUR_SRTP_KEY"

    private static let keyOption = "--srtp-key"
    /// What was typed, by what stands in its place.
    private static let typed = Mutex<[String: String]>([:])
    private static let variables = Mutex<[String: String]>([:])

    /// The arguments behind the program's name, with `…` where a secret was. The process's own memory of them, which every user
    /// of the machine may read, is written over.
    static func takeFromArguments() -> [String] {
        // Copies what is about to be written over.
        let arguments = CommandLine.arguments
        var shown: [String] = []
        for index in arguments.indices.dropFirst() {
            let argument = arguments[index]
            guard let start = secretStart(in: argument, after: arguments[index - 1]) else {
                shown.append(argument)
                continue
            }
            let text = String(decoding: argument.utf8.prefix(start), as: UTF8.self) + "…"
            typed.withLock { $0[text.hasPrefix(keyOption) ? "…" : text] = secret(of: argument) }
            shown.append(text)
            wipe(argument: index, from: start)
        }
        return shown
    }

    /// What is in memory does not get into a file when the program ends badly.
    static func keepOutOfCoreFiles() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }

    /// Takes the variables above out of the environment.
    static func takeFromEnvironment() {
        for name in [link, key] {
            guard let value = unsafe getenv(name) else { continue }
            let text = unsafe String(cString: value)
            variables.withLock { $0[name] = text.isEmpty ? nil : text }
            unsafe explicit_bzero(value, strlen(value))
            unsafe unsetenv(name)
        }
    }

    /// What was typed, where `shown` stands for a secret; nil where it is what was typed.
    static func revealed(_ shown: String) -> String? { typed.withLock { $0[shown] } }

    static func variable(_ name: String) -> String? { variables.withLock { $0[name] } }

    /// Where in the UTF-8 of an argument a secret begins: behind the # of what looks like a link, however misspelt.
    private static func secretStart(in argument: String, after previous: String) -> Int? {
        if previous == keyOption { return 0 }
        if argument.hasPrefix(keyOption + "=") { return keyOption.utf8.count + 1 }
        let bytes = Array(argument.utf8)
        guard let hash = bytes.firstIndex(of: UInt8(ascii: "#")) else { return nil }
        let front = argument.lowercased().prefix { $0 != "#" }
        let secret = String(decoding: bytes[(hash + 1)...], as: UTF8.self).lowercased()
        let isSecret =
            front.contains("tenfour:") || front.contains("://")
            || ["talk-", "listen-", "phrase-"].contains { secret.hasPrefix($0) }
        return isSecret && !secret.isEmpty ? hash + 1 : nil
    }

    private static func secret(of argument: String) -> String {
        argument.hasPrefix(keyOption + "=") ? String(argument.dropFirst(keyOption.count + 1)) : argument
    }

    private static func wipe(argument: Int, from start: Int) {
        guard let text = unsafe CommandLine.unsafeArgv[argument] else { return }
        let length = unsafe strlen(text)
        guard start < length else { return }
        unsafe memset(text + start, Int32(UInt8(ascii: "x")), length - start)
    }
}
