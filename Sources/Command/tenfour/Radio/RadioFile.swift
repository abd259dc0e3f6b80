import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourRadio

/// `radio.conf`: the options of `tenfour talk` as an INI file. A line is empty, a comment that begins with `#` or `;`, a
/// section such as `[microphone]`, or `key = value`. The keys are the options' long names.
struct RadioFile {
    /// The command that the file describes.
    let talk: Talk
    /// The number of keys in the file.
    let count: Int

    /// A key with its value, and the number of its line.
    private struct Setting {
        var option: TalkOption
        var value: String
        var line: Int
    }

    /// The longest file that is read, in bytes.
    private static let maximumByteCount = 1 << 20

    /// Reads the file at `path`. Throws `.configuration` with the line of an error.
    init(path: String) throws(RadioError) {
        let bytes = try Console.read(path)
        let name = String(fromPeer: path)
        guard bytes.count <= Self.maximumByteCount, let text = String(validating: bytes, as: UTF8.self) else {
            throw RadioError(.configuration, "\(name) is not a text file in UTF-8: name another file")
        }
        try self.init(parsing: text, named: name)
    }

    init(parsing text: String, named name: String) throws(RadioError) {
        let settings = try Self.settings(in: text, named: name)
        var arguments: [String] = []
        for setting in settings { arguments += try Self.arguments(of: setting, name) }
        do {
            talk = try Talk.parse(arguments)
        } catch {
            let message = Talk.message(for: error)
            let line = settings.first { message.contains("--\($0.option.name)") }?.line
            let place = line.map { "\(name):\($0)" } ?? name
            throw RadioError(.configuration, "\(place): \(Self.sentence(message))")
        }
        count = settings.count
    }

    private static func settings(in text: String, named name: String) throws(RadioError) -> [Setting] {
        var settings: [Setting] = []
        var section = TalkOption.mainSection
        for (index, line) in text.split(separator: /\r?\n/, omittingEmptySubsequences: false).enumerated() {
            let words = trimmed(line)
            let place = "\(name):\(index + 1)"
            if words.isEmpty || words.hasPrefix("#") || words.hasPrefix(";") { continue }
            if words.hasPrefix("["), words.hasSuffix("]") {
                section = words.dropFirst().dropLast().lowercased()
                try checkSection(section, place)
                continue
            }
            guard let sign = words.firstIndex(of: "=") else {
                throw RadioError(
                    .configuration, "\(place): this line is neither a section such as [microphone] nor key = value")
            }
            let key = trimmed(words[..<sign])
            let option = try option(named: key, in: section, place)
            if !option.isRepeating, let first = settings.first(where: { $0.option.name == option.name }) {
                throw RadioError(
                    .configuration, "\(place): \(option.name) stands in line \(first.line) already: remove one of them")
            }
            settings.append(
                Setting(option: option, value: trimmed(words[words.index(after: sign)...]), line: index + 1))
        }
        return settings
    }

    private static func checkSection(_ section: String, _ place: String) throws(RadioError) {
        let known = Self.sections
        guard !known.contains(section) else { return }
        throw RadioError(
            .configuration,
            "\(place): there is no section [\(String(fromPeer: section))]: the sections are "
                + known.map { "[\($0)]" }.joined(separator: ", "))
    }

    private static func option(
        named key: String, in section: String, _ place: String
    ) throws(RadioError) -> TalkOption {
        guard let option = TalkOption.all.first(where: { $0.name == key }) else {
            let nearest = Spelling.nearest(to: key, among: TalkOption.all.map(\.name))
            let remedy =
                nearest.isEmpty
                ? "tenfour radio --example prints all keys" : "did you mean \(nearest.joined(separator: " or "))?"
            throw RadioError(.configuration, "\(place): there is no key \(String(fromPeer: key)): \(remedy)")
        }
        guard option.section == section else {
            throw RadioError(.configuration, "\(place): \(key) belongs in the section [\(option.section)]")
        }
        return option
    }

    private static let switches = [
        "yes": true, "true": true, "on": true, "1": true, "no": false, "false": false, "off": false, "0": false,
    ]

    private static func arguments(of setting: Setting, _ name: String) throws(RadioError) -> [String] {
        let place = "\(name):\(setting.line)"
        let option = setting.option
        let isOn = Self.switches[setting.value.lowercased()]
        guard option.valueName != nil else {
            guard let isOn else { throw RadioError(.configuration, "\(place): \(option.name) is yes or no") }
            return isOn ? ["--\(option.name)"] : []
        }
        // On the command line, this option can stand without a value.
        if option.name == "auto-answer", let isOn {
            return isOn ? ["--\(option.name)=\(LobbyOptions.everybody)"] : []
        }
        guard !setting.value.isEmpty else {
            throw RadioError(.configuration, "\(place): \(option.name) has no value: write one, or remove the line")
        }
        let value = expandingHome(setting.value)
        guard option.isArgument else { return ["--\(option.name)=\(value)"] }
        guard !value.hasPrefix("tenfour:") else {
            throw RadioError(
                .configuration,
                "\(place): a channel's link is a secret: save the channel, or write the link into a file that only you can read, and link-file = FILE"
            )
        }
        guard !value.hasPrefix("-") else {
            throw RadioError(.configuration, "\(place): \(String(fromPeer: value)) is neither a host nor a channel")
        }
        return [value]
    }

    /// Returns the path with the user's home directory in place of `~`, as a shell would pass it.
    private static func expandingHome(_ value: String) -> String {
        guard value.hasPrefix("~/"), let home = unsafe getenv("HOME").map({ unsafe String(cString: $0) }) else {
            return value
        }
        return home + value.dropFirst()
    }

    private static func trimmed(_ text: Substring) -> String {
        let front = text.drop(while: \.isWhitespace)
        return String(front.reversed().drop(while: \.isWhitespace).reversed())
    }

    /// Returns the first line of the parser's message, without `Error:` and the period at its end.
    private static func sentence(_ message: String) -> String {
        let line = message.split(separator: "\n").first.map(String.init) ?? message
        let bare = line.hasPrefix("Error: ") ? String(line.dropFirst(7)) : line
        return bare.hasSuffix(".") ? String(bare.dropLast()) : bare
    }

    // MARK: The example

    /// The sections in their order.
    private static var sections: [String] {
        TalkOption.all.reduce(into: [TalkOption.mainSection]) { sections, option in
            if !sections.contains(option.section) { sections.append(option.section) }
        }
    }

    /// A file with every key in a comment, with its default or a word for its value.
    static var example: String {
        var lines = [
            "# radio.conf: a station without a terminal, for `tenfour radio --config radio.conf`.",
            "# The keys are the options of `tenfour talk`; man tenfour-talk has more about each.",
            "# A line that begins with # is a comment: remove the # to set a key. Switches are yes or no.",
        ]
        for section in sections {
            lines += ["", "[\(section)]"]
            for option in TalkOption.all where option.section == section {
                let help = option.isArgument ? talkHelp : option.help
                lines += wrapped(help + (option.isRepeating ? " May stand in several lines." : ""))
                lines.append("#\(option.name) = \(option.usual ?? placeholder(option))")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The help of the key `talk`: the file takes no channel's link, and nobody can press a key to answer a call.
    private static let talkHelp =
        "The station to talk with: a host name or address, with :PORT if the port is not 5004; srtp://HOST:PORT; or the name of a saved channel. Default: waits for calls, with auto-answer = yes or = NAME."

    /// Returns what stands for a value that has no default: its name in capital letters, or the first of its words.
    private static func placeholder(_ option: TalkOption) -> String {
        let name = option.valueName ?? ""
        return name.contains("|") ? String(name.prefix { $0 != "|" }) : name.uppercased()
    }

    /// Returns the text as comments of at most 100 columns.
    private static func wrapped(_ text: String) -> [String] {
        text.split(separator: " ").map(String.init).wrapped(toColumns: 100, behind: "# ", indent: "# ")
    }
}
