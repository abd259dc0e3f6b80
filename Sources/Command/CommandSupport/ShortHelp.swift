public import ArgumentParser

/// The help that `--help` prints: at most 24 lines of 80 columns. Its words are those of the parser's own help, which
/// `--help-all` prints.
struct ShortHelp {
    private var usage: [String] = []
    /// At most three lines of examples from the beginning of the command's discussion; empty if it does not begin with
    /// examples.
    private var examples: [String] = []
    /// The paragraph of the discussion that begins with `Keys:` and lists the keyboard keys; empty if there is none. The
    /// help shows as much of it as the screen has room for.
    private var keys: [String] = []
    private var arguments: [Row] = []
    private var options: [Row] = []
    private var commands: [Row] = []
    private let abstract: String
    private let command: String

    /// Shortens `full`, the parser's help of `command`, in which each paragraph and the help of each option is one
    /// line. `usual` holds the names of the options to keep, such as `device`, in their order; nil keeps all options
    /// but those that every command has.
    init(of full: String, command: String, usual: [String]?) {
        let paragraphs = full.split(separator: "\n\n").map { $0.split(separator: "\n").map(String.init) }
        abstract = String(paragraphs[0][0].trimmingPrefix("OVERVIEW: "))
        self.command = command
        for lines in paragraphs.dropFirst() { read(lines) }
        examples = Self.examples(in: paragraphs.dropFirst().first ?? [], of: command)
        options = usual.map { $0.map(option) } ?? options.filter { !$0.isOfEveryCommand }
    }

    private func option(named name: String) -> Row {
        guard let row = options.first(where: { $0.names.contains(name) }) else {
            preconditionFailure("\(command) has no option --\(name)")
        }
        return row
    }

    /// Reads a paragraph of the parser's help. Ignores a paragraph that the short help does not contain.
    private mutating func read(_ lines: [String]) {
        switch lines[0] {
        case let line where line.hasPrefix("USAGE: "):
            usage = lines.map { String($0.dropFirst(7)) }
        case "ARGUMENTS:": arguments = Row.all(in: lines.dropFirst())
        case "SUBCOMMANDS:": commands = Row.all(in: lines.dropFirst())
        case let line where line.hasSuffix(":") && line == line.uppercased():
            options += Row.all(in: lines.dropFirst())
        case let line where line.hasPrefix("Keys: "): keys = lines
        default: break
        }
    }

    private static func examples(in lines: [String], of command: String) -> [String] {
        let areOthers = lines.contains { $0.hasPrefix("USAGE:") || $0.hasSuffix(".") || !$0.contains(command + " ") }
        return areOthers ? [] : lines.prefix(3).map { "  " + $0 }
    }

    /// The text, which ends with the names of `--help-all` and of the manual page.
    var text: String {
        var blocks = [Self.wrapped(abstract, indent: 0)]
        blocks.append(
            usage.enumerated().flatMap { Self.wrapped(($0 == 0 ? "Usage: " : "       ") + $1, indent: 7) })
        // Many commands leave room for fewer examples.
        blocks.append(Array(examples.prefix(min(max(15 - commands.count, 0), 3))))
        blocks.removeAll(where: \.isEmpty)
        let placeOfKeys = blocks.count
        if !arguments.isEmpty || !options.isEmpty { blocks.append(["Options:"] + Self.table(arguments + options)) }
        if !commands.isEmpty { blocks.append(["Commands:"] + Self.table(commands)) }
        blocks.append(last)
        let rest = Self.lineCount - blocks.reduce(0) { $0 + $1.count + 1 }
        let shown = Self.wrapped(keys.joined(separator: " "), atMost: rest)
        if !shown.isEmpty { blocks.insert(shown, at: placeOfKeys) }
        return blocks.map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    /// The number of lines of the smallest terminal, without that of the next prompt.
    private static let lineCount = 23

    /// Returns at most `count` lines of at most 80 columns. If the text is longer, it ends with the last clause that
    /// fits and `…`. Returns nothing if no clause fits.
    private static func wrapped(_ text: String, atMost count: Int) -> [String] {
        let whole = wrapped(text, indent: 0)
        if text.isEmpty || whole.count <= count { return text.isEmpty ? [] : whole }
        var clauses = text.split(separator: ", ")
        while clauses.count > 1 {
            clauses.removeLast()
            let lines = wrapped(clauses.joined(separator: ", ") + ", …", indent: 0)
            if lines.count <= count { return lines }
        }
        return []
    }

    private var last: [String] {
        // Names the manual page of the command, which its subcommands share.
        let words = command.split(separator: " ").prefix(2)
        let page = (words[0].hasPrefix("tenfour") ? [] : ["tenfour"]) + words
        let more = commands.isEmpty ? [] : ["Help of a command: \(command) \(commands[0].label) --help."]
        return more + ["All options: \(command) --help-all. Manual: man \(page.joined(separator: "-"))."]
    }

    private static func table(_ rows: [Row]) -> [String] {
        let width = (rows.map(\.label.count).max() ?? 0) + 4
        return rows.flatMap { row in
            let label = "  " + row.label + String(repeating: " ", count: width - 2 - row.label.count)
            return wrapped(label + row.words(within: 80 - width), indent: width)
        }
    }

    /// Returns lines of at most 80 columns. All but the first begin with `indent` spaces.
    private static func wrapped(_ text: String, indent: Int) -> [String] {
        guard text.count > 80, let space = text.prefix(81).lastIndex(of: " ") else { return [text] }
        let rest = String(repeating: " ", count: indent) + text[space...].drop { $0 == " " }
        return [String(text[..<space])] + wrapped(rest, indent: indent)
    }
}

/// An argument, an option or a command in the parser's help.
private struct Row {
    /// The name as the help shows it, such as `-D, --device <name>`.
    var label: String
    var words: String

    /// Reads the lines of one section. The help of a row with a long label stands on a line of its own.
    static func all(in lines: ArraySlice<String>) -> [Row] {
        var rows: [Row] = []
        for line in lines {
            let indent = line.prefix { $0 == " " }.count
            let text = line.dropFirst(indent)
            if indent == 2 {
                let label = text.firstRange(of: "  ").map { text[..<$0.lowerBound] } ?? text
                rows.append(Row(label: String(label), words: String(text.dropFirst(label.count).drop { $0 == " " })))
            } else if rows.last?.words == "" {
                rows[rows.count - 1].words = String(text)
            }
        }
        return rows
    }

    /// The long names of an option.
    var names: Set<String> { Set(label.matches(of: /--([a-z0-9-]+)/).map { String($0.output.1) }) }

    var isOfEveryCommand: Bool { names.contains("help") || names.contains("version") }

    /// Returns the help text without values and default. If it has more than `width` columns, returns its beginning up
    /// to the last end of a clause that fits; all of it if none fits.
    func words(within width: Int) -> String {
        let bare = words.replacing(/\ \((values|default)[^()]*\)$/, with: "")
        let told = bare.hasSuffix(".") ? String(bare.dropLast()) : bare
        guard told.count > width else { return told }
        let all = told.replacing(/\.\ Default.*/, with: "")
        guard all.count > width else { return all }
        // Prefers the end of a clause at a full stop, colon or semicolon to its end at a comma or bracket.
        for ends in [".;:", ",("] {
            let clauses = all.indices.filter { index in
                ends.contains(all[index]) && (all[index] == "(" || all[index...].dropFirst().first == " ")
            }
            let fitting = clauses.map { all[..<$0] }.last { $0.count <= width }
            if let fitting { return fitting.hasSuffix(" ") ? String(fitting.dropLast()) : String(fitting) }
        }
        return all
    }
}

extension NameSpecification {
    /// The names of the option that shows help. `runAndExit` prints the whole help only for `--help-all`.
    public static let help: Self = [.short, .long, .customLong("help-all")]
}

extension ParsableCommand {
    /// Returns the help to print for `arguments` if `text`, the parser's answer, is the full help of a command; nil if
    /// `text` is something else.
    static func help(_ text: String, for arguments: [String], usual: [String: [String]]) -> String? {
        guard text.contains("--help-all"),
            let (path, command) = commands.first(where: { helpMessage(for: $0.1) == text })
        else { return nil }
        if arguments.contains("--help-all") {
            return text.replacing(
                "-h, --help-all, --help  Show help information.",
                with: "-h, --help, --help-all  Show the usual options; with --help-all, all options.")
        }
        return ShortHelp(of: helpMessage(for: command, columns: .max / 2), command: path, usual: usual[path]).text
    }

    /// This command and its subcommands of all levels, with their names such as `tenfour channel new`.
    private static var commands: [(path: String, command: any ParsableCommand.Type)] {
        let path = _commandName
        return [(path, Self.self)]
            + configuration.subcommands.flatMap { $0.commands.map { (path + " " + $0.path, $0.command) } }
    }
}
