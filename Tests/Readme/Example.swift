import TestSupport
import Testing

/// A line for the shell that a document shows, with the lines that continue it.
struct Example: Sendable, CustomTestStringConvertible {
    let document: String
    let line: String

    var testDescription: String { "\(document): \(line)" }

    /// The lines in README.md, the manual pages and the guides that call tenfour or one of its tools.
    static let all: [Example] = documents.flatMap { document in
        blocks(in: Folder.text(of: Repository.path(document)), isManual: document.hasPrefix(manuals + "/"))
            .flatMap(continuedLines)
            .map { Example(document: document, line: $0) }
            .filter { !$0.calls.isEmpty }
    }

    /// The manual pages, in the order of their names.
    static let manualPages = files(in: manuals) { $0.wholeMatch(of: /tenfour.*\.[157]/) != nil }

    /// The folder of the manual pages.
    private static let manuals = "Tools/man"
    /// The text before the command in a unit of systemd.
    private static let unitPrefix = "ExecStart=/usr/bin/"
    private static let documents =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md"] + manualPages
        + files(in: "Sources/Radio/Radio/Radio.docc") { $0.hasSuffix(".md") }

    private static func files(in folder: String, where isIncluded: (String) -> Bool) -> [String] {
        Folder.entries(of: Repository.path(folder)).filter(isIncluded).sorted().map { "\(folder)/\($0)" }
    }

    /// The commands of the line that are tenfour or one of its tools, each as its words.
    var calls: [[String]] {
        commands.map { Array($0.drop { ["sudo", "env"].contains($0) || $0.contains("=") }) }.filter { !$0.isEmpty }
            .filter { $0[0].hasPrefix("tenfour") || $0[0].hasPrefix("Tools/") || $0[0] == "losslab" }
    }

    /// The commands of the line, each as its words without quotes, comments and redirections.
    private var commands: [[String]] {
        var commands: [[String]] = [[]]
        var word: String?
        var quote: Character?
        var isFile = false
        for character in line + " " {
            switch character {
            case quote: quote = nil
            case _ where quote != nil: word?.append(character)
            case "'", "\"":
                quote = character
                word = word ?? ""
            case "#" where word == nil: return commands.filter { !$0.isEmpty }
            case " ", "|", ";", "&", ">", "<":
                if let word, !isFile { commands[commands.count - 1].append(word) }
                if word != nil { isFile = false }
                word = nil
                if "<>".contains(character) { isFile = true }
                if "|;&".contains(character) { commands.append([]) }
            default: word = (word ?? "") + String(character)
            }
        }
        return commands.filter { !$0.isEmpty }
    }

    /// The lines of each block of a document that is shown as it is typed.
    private static func blocks(in text: String, isManual: Bool) -> [[String]] {
        var blocks: [[String]] = []
        var block: [String]?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            let isEdge = isManual ? [".nf", ".fi", ".EX", ".EE"].contains(line) : line.hasPrefix("```")
            if !isEdge {
                block?.append(isManual ? unescaped(line) : line)
            } else if let ended = block {
                blocks.append(ended)
                block = nil
            } else {
                block = []
            }
        }
        return blocks
    }

    /// Joins each line that ends in a backslash or a bar with the next.
    private static func continuedLines(_ block: [String]) -> [String] {
        var lines: [String] = []
        var isContinued = false
        for line in block {
            var line = line.hasPrefix(unitPrefix) ? String(line.dropFirst(unitPrefix.count)) : line
            let continues = line.hasSuffix("\\") || line.hasSuffix("|")
            if line.hasSuffix("\\") { line.removeLast() }
            if isContinued { lines[lines.count - 1] += line } else { lines.append(line) }
            isContinued = continues
        }
        return lines
    }

    /// Returns a line of troff as it is shown.
    static func unescaped(_ line: String) -> String {
        let escapes = [
            ("\\&", ""), ("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(ha", "^"), ("\\(ti", "~"), ("\\e", "\\"),
        ]
        return escapes.reduce(line) { line, escape in
            line.split(separator: escape.0, omittingEmptySubsequences: false).joined(separator: escape.1)
        }
    }
}
