import CLinux
import Glibc
import Synchronization
import TenfourAudioCore

/// Removes secrets from the arguments and the environment when the program starts, so that neither `ps` nor an error
/// message shows the secrets.
enum Secrets {
    /// The variable for a channel's link.
    static let link = "TENFOUR_LINK"
    /// The variable for an SRTP key.
    static let key = "TENFOUR_SRTP_KEY"

    /// The typed text that each placeholder stands for.
    private static let typed = Mutex<[String: String]>([:])
    /// The values of the variables `link` and `key`, by the variable's name.
    private static let variables = Mutex<[String: String]>([:])

    /// Returns the arguments after the program's name with `…` in place of secrets, and overwrites the secrets in the
    /// process's argument memory, which every user of the machine can read.
    static func extractFromArguments() -> [String] {
        // Copies the arguments before the original is overwritten.
        let arguments = bytewiseArguments
        var shown: [String] = []
        for index in arguments.indices.dropFirst() {
            let argument = arguments[index]
            guard let secret = ArgumentSecret(in: argument, after: arguments[index - 1]) else {
                shown.append(argument)
                continue
            }
            shown.append(hide(secret, of: argument))
            // In an argument that is not UTF-8, the range does not fit its bytes, so that all of it is overwritten.
            let isPlain = argument.pathBytes.count == argument.utf8.count
            wipe(argument: index, isPlain ? secret.range : 0..<Int.max)
        }
        return shown
    }

    /// The arguments, with the bytes of paths that are no UTF-8.
    private static var bytewiseArguments: [String] {
        (0..<Int(CommandLine.argc)).map { index in
            unsafe CommandLine.unsafeArgv[index].map { unsafe String(path: $0) } ?? ""
        }
    }

    /// Returns `argument` with `…` in place of its secret. `revealed` returns the original.
    private static func hide(_ secret: ArgumentSecret, of argument: String) -> String {
        let front = String(decoding: argument.utf8.prefix(secret.range.lowerBound), as: UTF8.self)
        let rest = String(decoding: argument.utf8.dropFirst(secret.range.upperBound), as: UTF8.self)
        return typed.withLock { typed in
            // Two addresses may differ only in their passwords, so the placeholder gets more dots until it is unique.
            var dots = "…"
            while true {
                let text = front + dots + rest
                let key = String(text.utf8.dropFirst(secret.valueStart)) ?? text
                let value = String(argument.utf8.dropFirst(secret.valueStart)) ?? argument
                if typed[key] == nil || typed[key] == value {
                    typed[key] = value
                    return text
                }
                dots += "…"
            }
        }
    }

    /// Returns `text` for display: an address without user and password, and the value of `option` without a secret.
    static func shown(_ text: String, of option: String = "") -> String {
        guard let secret = ArgumentSecret(in: text, after: "--" + option) else { return text }
        return String(decoding: text.utf8.prefix(secret.range.lowerBound), as: UTF8.self) + "…"
            + String(decoding: text.utf8.dropFirst(secret.range.upperBound), as: UTF8.self)
    }

    /// Disables core dumps, and access by other processes of the same user (`ptrace`, `/proc/PID/mem`,
    /// `/proc/PID/environ`). The C functions are `setrlimit` and `prctl`.
    static func keepInThisProcess() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        _ = clinux_set_dumpable(0)
    }

    /// Removes the variables `link` and `key` from the environment and stores their values.
    static func extractFromEnvironment() {
        for name in [link, key] {
            guard let value = unsafe getenv(name) else { continue }
            let text = unsafe String(cString: value)
            variables.withLock { $0[name] = text.isEmpty ? nil : text }
            unsafe explicit_bzero(value, strlen(value))
            unsafe unsetenv(name)
        }
    }

    /// Returns the typed text if `text` is a placeholder, and `text` itself if it is not.
    static func reveal(_ text: String) -> String { revealed(text) ?? text }

    /// Returns the typed text if `shown` is a placeholder; nil if it is not.
    static func revealed(_ shown: String) -> String? { typed.withLock { $0[shown] } }

    static func variable(_ name: String) -> String? { variables.withLock { $0[name] } }

    private static func wipe(argument: Int, _ range: Range<Int>) {
        guard let text = unsafe CommandLine.unsafeArgv[argument] else { return }
        let length = unsafe strlen(text)
        guard range.lowerBound < length else { return }
        let count = min(range.upperBound, length) - range.lowerBound
        unsafe memset(text + range.lowerBound, Int32(UInt8(ascii: "x")), count)
    }
}

/// The part of an argument that is a secret.
struct ArgumentSecret {
    /// The position of the secret in the argument's UTF-8.
    let range: Range<Int>
    /// The offset of the option's value, after `--option=`, in the argument's UTF-8.
    let valueStart: Int

    private static let keyOption = "--srtp-key"
    private static let headerOption = "--header"
    private static let proxyOption = "--proxy"

    /// Finds the secret in `argument`; nil if there is none. `previous` is the argument before `argument`.
    init?(in argument: String, after previous: String) {
        let bytes = Array(argument.utf8)
        let option = [Self.keyOption, Self.headerOption, Self.proxyOption].first {
            previous == $0 || argument.hasPrefix($0 + "=")
        }
        let isPrevious = option == previous
        let start = isPrevious ? 0 : bytes.firstIndex(of: UInt8(ascii: "=")).map { $0 + 1 } ?? 0
        valueStart = argument.hasPrefix("--") && !isPrevious ? min(start, bytes.count) : 0
        let secret: Range<Int>? =
            switch option {
            case Self.keyOption: valueStart..<bytes.count
            case Self.headerOption: Self.header(bytes, from: valueStart)
            case Self.proxyOption: Self.userInfo(bytes, from: valueStart, needsScheme: false)
            default: Self.linkOrUserInfo(argument, bytes, from: valueStart)
            }
        guard let secret, !secret.isEmpty else { return nil }
        range = secret
    }

    /// Returns the range of a header's value; of the whole header if it has no name.
    private static func header(_ bytes: [UInt8], from start: Int) -> Range<Int> {
        let colon = bytes[start...].firstIndex(of: UInt8(ascii: ":"))
        let value = colon.map { bytes[($0 + 1)...].firstIndex { $0 != UInt8(ascii: " ") } ?? bytes.count }
        return (value ?? start)..<bytes.count
    }

    /// Returns the range of a link's secret or of an address's user and password; if both exist, the range from the
    /// user to the end.
    private static func linkOrUserInfo(_ argument: String, _ bytes: [UInt8], from start: Int) -> Range<Int>? {
        let (link, user) = (link(argument, bytes), userInfo(bytes, from: start, needsScheme: true))
        guard let link, let user, !user.isEmpty else { return link ?? user }
        return user.lowerBound..<max(link.upperBound, user.upperBound)
    }

    /// Returns the range of the user and password in an address; nil if there are none. If `needsScheme` is true, text
    /// without `://` is not taken for an address.
    private static func userInfo(_ bytes: [UInt8], from start: Int, needsScheme: Bool) -> Range<Int>? {
        let mark = Array("://".utf8)
        let scheme = bytes.indices.first { $0 >= start && bytes[$0...].starts(with: mark) }
        if scheme == nil, needsScheme { return nil }
        let begin = scheme.map { $0 + mark.count } ?? start
        let authority = bytes[begin...].prefix { !"/?#".utf8.contains($0) }
        return authority.lastIndex(of: UInt8(ascii: "@")).map { begin..<$0 }
    }

    /// Returns the range after `#` if the argument resembles a channel's link, even a misspelt one.
    private static func link(_ argument: String, _ bytes: [UInt8]) -> Range<Int>? {
        guard let hash = bytes.firstIndex(of: UInt8(ascii: "#")) else { return nil }
        let front = argument.lowercased().prefix { $0 != "#" }
        let secret = String(decoding: bytes[(hash + 1)...], as: UTF8.self).lowercased()
        let isSecret =
            front.contains("tenfour:") || front.contains("://")
            || ["relay-", "pass-", "talk-", "listen-", "phrase-"].contains { secret.hasPrefix($0) }
        return isSecret ? hash + 1..<bytes.count : nil
    }
}
