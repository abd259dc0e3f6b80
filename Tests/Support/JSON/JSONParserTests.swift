import TenfourJSON
import Testing

struct JSONParserTests {
    private func parsed(_ text: String) throws(JSONError) -> String { try JSON(parsing: Array(text.utf8)).line }

    @Test(arguments: [
        #"{ "command": "down", "list": [1, -2, 0, null, true, false, {}, []], "n": 1.5 }"#, "null", "3", #""ä""#,
    ])
    func whatIsWrittenIsReadAgain(text: String) throws { #expect(try parsed(text) == text) }

    @Test func escapesNumbersAndSpaceAreRead() throws {
        #expect(try parsed(" [ \"\\u00e4\\ud83d\\ude00\\n\\/\" ,\t1e2\r\n, 12345678901234567890 ] ").contains("ä😀"))
        #expect(try parsed("1e2") == "100")
        #expect(try parsed("-0.25") == "-0.25")
        guard case .text("\u{8}\u{C}\n\r\t\"\\/")? = try? JSON(parsing: Array(#""\b\f\n\r\t\"\\\/""#.utf8)) else {
            Issue.record("escapes")
            return
        }
    }

    @Test func theLastMemberOfANameCounts() throws {
        let value = try JSON(parsing: Array(#"{"a":1,"b":2,"a":3}"#.utf8))
        #expect(value.member("a")?.line == "3" && value.member("c") == nil)
        #expect(JSON.integer(1).member("a") == nil)
    }

    @Test(arguments: [
        "", " ", "{", "}", "{\"a\"}", "{\"a\":}", "{a:1}", "[1,]", "[1 2]", "01", "-", "1.", ".5", "1e", "+1", "1e999",
        "nul", "\"a", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\u{1}\"", "1 2", "{}x",
    ])
    func whatIsNotJSONIsRefused(text: String) {
        #expect(throws: JSONError.self) { try JSON(parsing: Array(text.utf8)) }
    }

    @Test func invalidUTF8IsRefused() {
        #expect(throws: JSONError.self) { try JSON(parsing: [0x22, 0xC3, 0x22]) }
        #expect(throws: JSONError.self) { try JSON(parsing: [0xFF]) }
    }

    @Test func deepNestingIsRefused() {
        #expect(throws: JSONError.tooDeep(at: 17)) {
            try JSON(parsing: [UInt8](repeating: UInt8(ascii: "["), count: 1_000_000))
        }
    }
}
