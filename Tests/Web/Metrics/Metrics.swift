import TenfourMetrics
import TestSupport
import Testing

/// The samples of a text of metrics, by name with labels, such as `tenfour_members{channel="family"}`.
func samples(_ text: MetricsText) -> [String: Double] {
    Dictionary(
        text.text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let space = line.lastIndex(of: " ")!
            return (String(line[..<space]), Double(line[line.index(after: space)...]) ?? .nan)
        }, uniquingKeysWith: { _, _ in .nan })
}

/// Checks a text with Prometheus' own checker: its form, and that names, types, help and units are as they should be.
func checkByPrometheus(_ text: MetricsText, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let folder = Folder()
    folder.write(text.text, to: "metrics")
    let result = try Program.run("sh", ["-c", "promtool check metrics <metrics"], in: folder)
    #expect(
        result.end == .code(0) && result.output.isEmpty && result.errors.isEmpty, "\(result.output)\(result.errors)",
        sourceLocation: sourceLocation)
}
