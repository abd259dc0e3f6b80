import ArgumentParser
import TenfourJSON

/// An option of `tenfour talk`, as the argument parser describes it: a key of `radio.conf`.
struct TalkOption {
    /// The name without hyphens, such as `time-out`. That of the argument is `talk`.
    let name: String
    /// The section of `radio.conf` that it stands in, such as `microphone`.
    let section: String
    let help: String
    /// The value that is used if none is given; nil if the help text tells it.
    let usual: String?
    /// The word for the value, such as `time|none`; nil for a switch.
    let valueName: String?
    let isRepeating: Bool
    /// Whether it is the argument behind the command's name.
    let isArgument: Bool

    /// The section of options that stand in no group of the help.
    static let mainSection = "radio"
    /// Options that are of no use without a terminal.
    private static let excluded: Set = ["help", "version", "levels", "plain", "notify"]

    /// All options, in the order of the help.
    static let all: [TalkOption] = {
        guard let dump = try? JSON(parsing: Array(Talk._dumpHelp().utf8)),
            case .list(let arguments)? = dump.member("command")?.member("arguments")
        else { return [] }
        return arguments.compactMap(TalkOption.init).filter { !excluded.contains($0.name) }
    }()

    private init?(_ argument: JSON) {
        guard let kind = argument.text("kind") else { return nil }
        isArgument = kind == "positional"
        guard let name = isArgument ? "talk" : Self.longName(of: argument) else { return nil }
        self.name = name
        section = argument.text("sectionTitle").map { String($0.lowercased().prefix { $0 != " " }) } ?? Self.mainSection
        help = argument.text("abstract") ?? ""
        usual = kind == "flag" ? "no" : argument.text("defaultValue")
        valueName = kind == "flag" ? nil : argument.text("valueName") ?? "value"
        isRepeating = if case .boolean(true)? = argument.member("isRepeating") { true } else { false }
    }

    private static func longName(of argument: JSON) -> String? {
        guard case .list(let names)? = argument.member("names") else { return nil }
        return names.first { $0.text("kind") == "long" }?.text("name")
    }
}

extension JSON {
    /// The text of a member; nil if there is none.
    fileprivate func text(_ name: String) -> String? {
        if case .text(let text)? = member(name) { text } else { nil }
    }
}
