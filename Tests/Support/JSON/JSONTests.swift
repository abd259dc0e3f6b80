import TenfourJSON
import Testing

struct JSONTests {
    @Test func valuesAreWrittenAsRFC8259HasThem() {
        let value = JSON.object([
            ("a", .integer(-3)), ("b", .decimal(2 / 3.0, places: 4)), ("c", .decimal(.nan, places: 2)),
            ("d", .text("\"\\\u{7}ä\n")), ("e", .list([.null, .boolean(true), .object([])])),
            ("f", .decimal(3, places: 2)),
        ])
        #expect(
            value.line
                == #"{ "a": -3, "b": 0.6667, "c": null, "d": "\"\\\u0007ä\u000a", "e": [null, true, {}], "f": 3 }"#)
    }

    @Test func longReportsAreWrapped() {
        let row = JSON.object([("x", .text(String(repeating: "y", count: 60)))])
        let lines = JSON.object([("rows", .list([row, row])), ("n", .integer(1))]).text.split(separator: "\n")
        #expect(lines.count == 7 && lines[0] == "{" && lines[2].hasPrefix("    {"))
        #expect(JSON.object([("n", .integer(1))]).text == "{ \"n\": 1 }\n")
    }
}
