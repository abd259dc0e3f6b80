import Glibc
import TestSupport
import Testing

/// The arguments and messages of the command `badlink`; the proxy itself is tested elsewhere.
@Suite(.onItsOwnThread, .inRealTime) struct BadlinkTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private func badlink(_ arguments: String...) throws -> (end: Program.End, output: String, errors: String) {
        try Program.run("badlink", arguments, in: folder)
    }

    @Test(arguments: [
        [], [":6000"], ["--network", "nonsense", ":0", "127.0.0.1:9"], ["--delay", "40", ":0", "127.0.0.1:9"],
        ["--back", "loss=5", ":0", "127.0.0.1:9"], ["--back", "lan", "--one-way", ":0", "127.0.0.1:9"],
        ["--print-trace", "0"], ["--seed", "x"],
    ])
    func wrongUseIsReportedWithTheUsage(arguments: [String]) throws {
        let result = try Program.run("badlink", arguments, in: folder)
        #expect(result.end == .code(2) && result.output == "", "\(result.errors)")
        #expect(
            result.errors.hasPrefix("badlink: ") && result.errors.contains("; see 'badlink --help'"), "\(result.errors)"
        )
    }

    @Test(
        arguments: [
            ("6000 127.0.0.1:9", 2, "write it as :6000"), (":0 127.0.0.1", 2, "write it as 10.0.0.7:5004"),
            (":0 :9", 2, "write host:port"), (":65535 127.0.0.1:9", 2, "choose a lower port"),
            (":0 no-such-host.invalid:9", 69, "check the spelling"),
            ("192.0.2.1:0 127.0.0.1:9", 69, "is not an address of this machine"),
            ("--trace missing.csv :0 127.0.0.1:9", 69, "name another file"),
            ("--trace words.csv :0 127.0.0.1:9", 69, "words.csv cannot be used: trace line 1"),
            ("--report no/such/file.json :0 127.0.0.1:9", 69, "choose another path"),
        ] as [(String, Int32, String)])
    func impossibleOptionsGetAClearError(arguments: String, code: Int32, words: String) throws {
        folder.write("What is this?\n", to: "words.csv")
        let result = try Program.run("badlink", arguments.split(separator: " ").map(String.init), in: folder)
        #expect(result.end == .code(code) && result.output == "", "\(result.errors)")
        #expect(result.errors.hasPrefix("badlink: ") && result.errors.contains(words), "\(result.errors)")
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }

    @Test func ctrlCWritesTheReportInThePlaceOfTheOldOne() throws {
        folder.write("before", to: "report.json")
        let proxy = try Program(
            "badlink", ["127.0.0.1:\(port)", "127.0.0.1:9", "--no-rtcp", "--report", "report.json"], in: folder)
        try #require(proxy.takes(port: port), "\(proxy.errors)")
        #expect(Folder.text(of: folder("report.json")) == "before")
        let second = try badlink("127.0.0.1:\(port)", "127.0.0.1:9", "--no-rtcp")
        #expect(second.end == .code(69) && second.errors.contains("UDP port \(port) is in use"), "\(second.errors)")
        proxy.send(SIGINT)
        #expect(proxy.wait() == .code(0) && proxy.errors.contains("no packets received"), "\(proxy.errors)")
        #expect(Folder.text(of: folder("report.json")).hasPrefix("{"))
    }

    @Test func requestedOutputGoesToStandardOutput() throws {
        let list = try badlink("--list")
        #expect(list.end == .code(0) && list.output.contains("wifi-bad") && list.errors == "")
        let trace = try badlink("--network", "lte", "--print-trace", "3")
        #expect(trace.end == .code(0) && trace.output.split(separator: "\n").count >= 3 && trace.errors == "")
        #expect(try badlink("--network", "lte", "--print-trace", "3").output == trace.output)
    }

    @Test func depthsAreLimitedAndStandardOutputCarriesOneThing() throws {
        for command in ["radiocheck --network lan", "replay x", "tenfour send rtp://127.0.0.1", "tenfour recv"] {
            let words = command.split(separator: " ").map(String.init)
            let result = try Program.run(words[0], words[1...] + ["--max-latency", "6000"])
            #expect(result.end == .code(2) && result.errors.contains("write at most 5000 ms"), "\(result.errors)")
        }
        for command in ["radiocheck --network lan --json -o -", "replay x -o - --report -"] {
            let words = command.split(separator: " ").map(String.init)
            let result = try Program.run(words[0], Array(words[1...]))
            #expect(result.end == .code(2) && result.errors.contains("both write to standard output"))
        }
    }
}
