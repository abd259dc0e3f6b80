import Glibc
import TestSupport
import Testing

/// `tenfour channel` makes channels and states the strength of their secrets.
@Suite(.onItsOwnThread, .inRealTime) struct ChannelTests {
    private let folder = Folder()
    /// A link with the pass of a relay.
    private static let passLink =
        "tenfour://radio.example.org/family#pass-ucq2fi5euwtkpkfjvkv2zlnov4h6owof7f3e7jcp57uiciiojhyq."
        + "talk-aaaq-eaye-auda-ocaj-bifq-ydio-b5sj"

    private func lines(_ arguments: String, in environment: [String: String] = [:]) throws -> [String] {
        let result = try tenfour(
            arguments.split(separator: " ").map(String.init), in: folder, environment: environment)
        #expect(result.end == .code(0), "\(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test(arguments: [false, true])
    func aNewChannelHasTwoLinksAndALineForItsRelay(words: Bool) throws {
        let made = try lines("channel new Family --relay radio.example.org" + (words ? " --words" : ""))
        try #require(made.count == 3)
        #expect(made[0].hasPrefix("tenfour://radio.example.org/family#talk-"))
        #expect(made[1].hasPrefix("tenfour://radio.example.org/family#listen-"))
        #expect(made[2].wholeMatch(of: /channel family talk=[a-z2-7]{52} listen=[a-z2-7]{52}/) != nil)
        #expect(try lines("channel new family --relay radio.example.org") != made, "a secret was drawn twice")
        // The keys derived from a talk link are always the same.
        let keys = try lines("channel keys \(made[0])" + (words ? " --words" : ""))
        #expect(keys == [made[1], made[2]])
    }

    @Test func theStrengthOfAPassphraseIsPrintedSeparately() throws {
        let result = try tenfour(["channel", "new", "family"], in: folder)
        #expect(result.output.hasPrefix("tenfour:///family#talk-"))
        #expect(result.errors.contains("people talk and listen") && result.errors.contains("people only listen"))
        #expect(result.errors.contains("tenfour://HOST/family#…"), "\(result.errors)")
        let secret = try #require(result.output.split(separator: "\n").first?.split(separator: "#").last)
        #expect(!result.errors.contains(secret))
    }

    /// A user who is not told of the error would believe that the secret is saved.
    @Test func unwritableFilesAreReported() throws {
        let full = unsafe open("/dev/full", O_WRONLY | O_CLOEXEC)
        defer { close(full) }
        let program = try Program("tenfour", ["channel", "new", "family"], output: .descriptor(full))
        #expect(program.wait() == .code(1))
        #expect(program.errors.contains("cannot write standard output: No space left"), "\(program.errors)")
        // A reader that ends early, such as `head`, causes no error.
        let pipe = Pipe()
        pipe.closeOutput()
        let unread = try Program("tenfour", ["relay", "--example"], output: .descriptor(pipe.input))
        #expect(unread.wait() == .code(0) && unread.errors == "")
    }

    @Test func itIsJSONOnRequest() throws {
        let result = try tenfour(["channel", "new", "family", "--relay", "[2001:db8::7]:6000", "--json"])
        #expect(result.output.contains(#""talk_link": "tenfour://[2001:db8::7]:6000/family#talk-"#), "\(result.output)")
        #expect(result.output.contains(#""relay_line": "channel family talk="#))
        #expect(result.errors == "")
    }

    /// QR codes are drawn only on request: without them the text fits a screen of 80 × 24.
    @Test func linksAreDrawnForCameras() throws {
        #expect(try lines("channel new family --qr").count { $0.contains("▄") || $0.contains("▀") } > 30)
        let screen = Terminal(columns: 80, rows: 24)
        let plain = try Program(
            "tenfour", ["channel", "new", "family", "--relay", "radio.example.org"], terminal: screen)
        #expect(plain.wait() == .code(0))
        let rows = screen.shown.split(separator: "\n", omittingEmptySubsequences: false).map {
            max(($0.count + 79) / 80, 1)
        }
        #expect(rows.reduce(0, +) < 24 && screen.shown.contains("#talk-"), "\(screen.shown)")
        let terminal = Terminal()
        let program = try Program(
            "tenfour", ["channel", "new", "family", "--qr"], environment: ["NO_COLOR": ""], terminal: terminal)
        #expect(program.wait() == .code(0))
        let inked = terminal.lines.count { $0.hasPrefix("\u{1B}[38;5;16;48;5;231m") && $0.hasSuffix("\u{1B}[0m") }
        #expect(inked > 30, "\(terminal.shown)")
    }

    private func make(saying passphrase: String) throws -> (end: Program.End, output: String, errors: String) {
        let pipe = Pipe()
        let program = try Program(
            "tenfour", ["channel", "new", "family", "--passphrase"], input: .descriptor(pipe.output))
        _ = unsafe write(pipe.input, passphrase, passphrase.utf8.count)
        pipe.closeInput()
        let end = program.wait()
        return (end, program.outputText, program.errors)
    }

    @Test func aPassphraseStandsInItsLinkAndComesWithAWarning() throws {
        let result = try make(saying: "correct horse battery staple nine\nmore")
        #expect(result.end == .code(0), "\(result.errors)")
        let talk = String(result.output.prefix { $0 != "\n" })
        #expect(talk.hasSuffix("-correct-horse-battery-staple-nine") && talk.contains("#phrase-"))
        #expect(result.errors.contains("any relay, can try passphrases"))
        #expect(!result.errors.contains("horse"))
        let keys = try lines("channel keys \(talk)")
        #expect(keys == result.output.split(separator: "\n").dropFirst().map(String.init))
    }

    @Test(arguments: [("hello", "too easy to guess"), ("", "no passphrase"), ("a\u{7}b\n", "a control character")])
    func aWeakPassphraseIsRefused(passphrase: String, words: String) throws {
        let result = try make(saying: passphrase)
        #expect(result.end == .code(2) && result.output == "")
        #expect(result.errors.contains(words) && result.errors.hasPrefix("tenfour: "), "\(result.errors)")
        #expect(passphrase.isEmpty || !result.errors.contains("hello"))
    }

    @Test func aPassphraseIsTypedTwiceAndNeverShown() throws {
        for (again, code) in [("correct horse battery staple nine", Int32(0)), ("correct horse", 2)] {
            let terminal = Terminal()
            let before = terminal.localModes
            let program = try Program("tenfour", ["channel", "new", "family", "--passphrase"], terminal: terminal)
            try #require(program.says("passphrase: "))
            #expect(terminal.shown.contains("five different words"), "\(terminal.shown)")
            #expect(terminal.shown.contains("finds a weak one"))
            program.wait(.seconds(5)) { terminal.localModes & UInt32(ECHO) == 0 }
            terminal.type("correct horse battery staple nine\n")
            try #require(program.says("again: "))
            program.wait(.seconds(5)) { terminal.localModes & UInt32(ECHO) == 0 }
            terminal.type(again + "\n")
            #expect(program.wait() == .code(code), "\(terminal.shown)")
            #expect(!terminal.shown.contains("correct horse"))
            #expect(terminal.localModes == before)
        }
    }

    /// Ctrl-C restores the terminal settings.
    @Test func theTerminalIsAsBeforeWhenNoPassphraseComes() throws {
        let terminal = Terminal()
        let before = terminal.localModes
        let program = try Program("tenfour", ["channel", "new", "family", "--passphrase"], terminal: terminal)
        try #require(program.says("passphrase: "))
        program.wait(.seconds(5)) { terminal.localModes & UInt32(ECHO) == 0 }
        terminal.type("\u{3}")
        #expect(program.wait(.seconds(10)) == .code(2), "\(terminal.shown)")
        #expect(terminal.localModes == before)
    }

    @Test(arguments: [
        Misuse("channel new two~words", 2, "1 to 32 characters"),
        Misuse("channel new family --relay host/path", 2, "'host/path'", "HOST:PORT"),
        Misuse("channel new family --relay host:0", 2, "'host:0'", "HOST:PORT"),
        Misuse("channel keys", 2, "the channel's link is missing", "--link-file"),
        Misuse("channel keys rtp://127.0.0.1", 2, "not a channel's link", "tenfour://"),
        Misuse("channel keys tenfour://host/family", 2, "no secret", "rtp:// for a stream"),
        Misuse("channel keys --link-file missing", 69, "missing", "holds a link"),
        Misuse("channel keys --link-file open", 69, "other users may read open (mode 644)", "chmod 600 open"),
        Misuse("channel keys --link-file empty", 69, "empty does not hold a link"),
        Misuse("channel keys --link-file plain", 2, "plain does not hold a channel's link"),
        Misuse("channel keys --link-file .", 69, "."),
        Misuse(
            "channel keys --link-file paired", 2, "made by pairing through a relay, so it has no listen link",
            "`tenfour listen`"),
        Misuse("talk tenfour://host/family", 2, "no secret", "rtp:// for a stream"),
        Misuse("send --input x tenfour://host/family#", 2, "no secret", "rtp:// for a stream"),
        Misuse("listen rtp://127.0.0.1", 2, "not a channel's link"),
        Misuse("recv srtp://:5004", 2, "--srtp-key-file", "head -c 30 /dev/urandom | base64"),
        Misuse("recv srtp://:5004 --srtp-key-file open", 69, "chmod 600 open"),
        Misuse("recv srtp://:5004 --srtp-key-file plain", 2, "30 bytes in base64"),
        Misuse("recv srtp://:5004 --srtp-key-file gcm", 2, "30 bytes", "fits --srtp-suite AEAD_AES_128_GCM"),
        Misuse("recv rtp://:5004 --srtp-key-file plain", 2, "key is only for an address", "srtp://"),
        Misuse("send --input x --link-file good --sdp x.sdp", 2, "they cannot join a channel", "leave --sdp out"),
        Misuse("send --input x --link-file good --codec pcmu", 2, "cannot be used in a channel", "--codec opus"),
        Misuse("talk --link-file good --codec pcma", 2, "cannot be used in a channel", "--codec opus"),
        Misuse("send --input x --link-file good --srtp-key-file plain", 2, "key is only for an address", "srtp://"),
        Misuse("talk --link-file good --srtp-key-file plain", 2, "key is only for an address", "srtp://"),
        Misuse("talk good", 2, "good is a file", "write --link-file good"),
        Misuse("listen ./open", 2, "./open is a file", "--link-file ./open"),
        Misuse("channel keys @good", 2, "good is a file", "--link-file good"),
        Misuse("send --input x good", 2, "good is a file", "--link-file good"),
        Misuse("listen tenfour://h/f#talk-able-acid-acre-claud-aim", 2, "word 4", "'claud'", "'cloud' may be right"),
        Misuse("talk bob.invalid --link-file plain", 2, "write only one of them"),
    ])
    func wrongUseGetsAClearError(misuse: Misuse) throws {
        folder.write("tenfour://host/family#talk-aaaa\n", to: "open")
        unsafe chmod(folder("open"), 0o644)
        folder.write("dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydA==\n", to: "gcm")
        folder.write("\n", to: "empty")
        folder.write("rtp://127.0.0.1\n", to: "plain")
        folder.write(Self.passLink, to: "paired")
        folder.write("tenfour://127.0.0.1/family#talk-swvb-ssop-fynh-xtny-shhj-rods-2eep\n", to: "good")
        let result = try tenfour(misuse.arguments, in: folder)
        #expect(result.end == .code(misuse.code), "\(result.errors)")
        #expect(result.output == "")
        #expect(
            result.errors.hasPrefix("tenfour: ") && result.errors.dropLast().contains("\n") == false, "\(result.errors)"
        )
        for word in misuse.words { #expect(result.errors.contains(word), "\(result.errors)") }
    }
}
