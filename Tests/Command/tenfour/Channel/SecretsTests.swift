import Glibc
import TestSupport
import Testing

/// Tests that secrets are shown nowhere.
@Suite(.onItsOwnThread) struct SecretsTests {
    private let folder = Folder()
    private let port = UDPPort.free()

    private static let secret = "talk-swvb-ssop-fynh-xtny-shhj-rods-2eep"
    private static let link = "tenfour://127.0.0.1/family#\(secret)"
    private static let key = "dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydHAu"

    /// A link and a key, as an option's value or after an equals sign, have been wiped from the arguments when the
    /// program starts working.
    @Test(arguments: [["--srtp-key", key, "--name", link], ["--srtp-key=\(key)", "--name=\(link)"]])
    func argumentsAreWipedFromTheProcess(arguments: [String]) throws {
        let program = try Program(
            "tenfour", ["recv", "srtp://:\(port)", "-o", "heard.wav"] + arguments, in: folder)
        try #require(program.says("Ctrl-C ends it"), "\(program.errors)")
        let shown = program.shownArguments
        #expect(shown.contains("srtp://:\(port)") && shown.contains("tenfour://127.0.0.1/family#xxx"), "\(shown)")
        #expect(!shown.contains("swvb") && !shown.contains("2eep") && !shown.contains(Self.key.prefix(8)), "\(shown)")
        #expect(program.errors.contains("--srtp-key-file or TENFOUR_SRTP_KEY"), "\(program.errors)")
        #expect(!program.errors.contains("swvb") && !program.errors.contains(Self.key.prefix(8)))
        program.send(SIGINT)
        #expect(program.wait() == .code(0))
    }

    @Test func theEnvironmentIsWipedToo() throws {
        let program = try Program(
            "tenfour", ["recv", "srtp://:\(port)", "-o", "heard.wav"], in: folder,
            environment: ["TENFOUR_SRTP_KEY": Self.key, "TENFOUR_LINK": Self.link])
        try #require(program.takes(port: port), "\(program.errors)")
        let shown = program.shownEnvironment
        #expect(geteuid() != 0 || shown.contains("PATH="), "only root may look")
        #expect(!shown.contains("swvb") && !shown.contains(Self.key.prefix(8)))
    }

    /// Other programs of the same user cannot read the memory of a process that may hold a key, nor its initial
    /// environment.
    @Test func otherProgramsOfTheSameUserCannotLookInside() throws {
        // Root could read them, so both programs run as an ordinary user, from a copy that this user may read.
        let user = OrdinaryUser()
        let program = try user.start("tenfour", ["recv", "-p", "\(port)", "-o", "/dev/null"])
        try #require(program.says("Ctrl-C ends it"), "\(program.errors)")
        for file in ["mem", "environ", "maps"] {
            let other = try user.start("head", ["-c", "1", "/proc/\(program.processID)/\(file)"])
            #expect(other.wait() != .code(0) && other.errors.contains("ermission"), "\(file): \(other.errors)")
        }
        // RealtimeKit must be able to read the owner and the limits of the process.
        let limits = try user.start("cat", ["/proc/\(program.processID)/limits"])
        #expect(limits.wait() == .code(0) && limits.outputText.contains("Max realtime timeout"), "\(limits.errors)")
        program.send(SIGINT)
        #expect(program.wait() == .code(0))
    }

    /// Secrets in misspelt links and in wrong places.
    @Test(arguments: [
        ["talk", link + "x"], ["talk", "tenfuor://h/f#\(secret)"], ["talk", "bob", link],
        ["talk", "--nonsense=\(link)"], ["talk", "h/f#pass-\(key).\(secret)"],
        ["channel", "keys", "http://h/f#\(secret)"], ["channel", "new", link], ["nonsense", "f#\(secret)"],
        ["send", "--srtp-key", key, "rtp://127.0.0.1", "--input", "x.wav"], ["listen", "tenfour://h:0/f#\(secret)"],
        ["channel", "new", "family", "--relay", link], ["recv", "srtp://:5004", "--srtp-key", "\(key)\(key)"],
    ])
    func noErrorShowsASecret(arguments: [String]) throws {
        for environment in [[:], ["TENFOUR_LINK": Self.link, "TENFOUR_SRTP_KEY": Self.key]] {
            let result = try tenfour(arguments, in: folder, environment: environment)
            #expect(result.end == .code(2), "\(result.errors)")
            for part in ["swvb", "rods", String(Self.key.prefix(8))] {
                #expect(!result.errors.contains(part) && !result.output.contains(part), "\(result.errors)")
            }
        }
    }

    /// A link from a file, from the environment or from an argument has the same effect; only the argument causes a
    /// warning.
    @Test func aLinkComesByFileByEnvironmentOrAsArgument() throws {
        folder.write("  \(Self.link) \r\nand a remark\n", to: "family.link")
        let byFile = try tenfour(["channel", "keys", "--link-file", "family.link"], in: folder)
        let byEnvironment = try tenfour(["channel", "keys"], environment: ["TENFOUR_LINK": Self.link])
        let asArgument = try tenfour(["channel", "keys", Self.link])
        for result in [byFile, byEnvironment, asArgument] {
            #expect(result.end == .code(0) && result.output.contains("channel family talk="), "\(result.errors)")
            #expect(result.output == byFile.output)
        }
        #expect(!byFile.errors.contains("your shell") && !byEnvironment.errors.contains("your shell"))
        #expect(asArgument.errors.split(separator: "your shell").count == 2, "\(asArgument.errors)")
    }
}
