import TenfourCommandSupport
import TenfourDiagnosis

/// A diagnosis as text of at most 80 columns.
enum DoctorReport {
    private static let width = 80
    /// The columns before the text: those of the severity and of the check's name.
    private static let (severityWidth, checkWidth) = (7, 14)

    static func text(of diagnosis: Diagnosis) -> String {
        var lines: [String] = []
        for result in diagnosis.results {
            for (index, finding) in result.findings.enumerated() {
                let head =
                    padded(finding.severity == .well ? "ok" : finding.severity.rawValue, severityWidth)
                    + padded(index == 0 ? result.check : "", checkWidth)
                lines += wrapped(capitalised(finding.text) + ".", behind: head)
                if let remedy = finding.remedy {
                    lines += wrapped(remedy, behind: String(repeating: " ", count: severityWidth))
                }
            }
        }
        return (lines + ["", summary(diagnosis)]).joined(separator: "\n") + "\n"
    }

    private static func summary(_ diagnosis: Diagnosis) -> String {
        let (faults, limits) = (diagnosis.count(.fault), diagnosis.count(.limit))
        let parts = [(faults, "fault"), (limits, "limit")].filter { $0.0 > 0 }.map {
            "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")"
        }
        if faults > 0 { return "\(parts.joined(separator: " and ")): the remedies are above." }
        return limits > 0
            ? "Nothing keeps this machine from talking; \(parts.joined(separator: ""))." : "All is well."
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(width - text.columnCount, 1))
    }

    /// A capital letter at the beginning of a sentence, unless it begins with a name or a command.
    private static func capitalised(_ text: String) -> String {
        let first = text.prefix { $0 != " " }
        let isWord = first.allSatisfy { $0.isLowercase && $0.isLetter } || first == "a"
        return isWord ? text.prefix(1).uppercased() + text.dropFirst() : text
    }

    /// Lines of at most 80 columns; all but the first begin with spaces.
    private static func wrapped(_ text: String, behind head: String) -> [String] {
        let indent = String(repeating: " ", count: head.columnCount)
        return pieces(of: text).wrapped(toColumns: width, behind: head, indent: indent)
    }

    /// The words of a text; what stands between backquotes is one, if it fits on a line.
    private static func pieces(of text: String) -> [String] {
        var pieces: [String] = []
        var isCommand = false
        for word in text.split(separator: " ") {
            if isCommand, let last = pieces.last,
                last.columnCount + 1 + String(word).columnCount <= width - severityWidth
            {
                pieces[pieces.count - 1] = last + " " + word
            } else {
                pieces.append(String(word))
            }
            if word.count(where: { $0 == "`" }) % 2 == 1 { isCommand.toggle() }
        }
        return pieces
    }
}
