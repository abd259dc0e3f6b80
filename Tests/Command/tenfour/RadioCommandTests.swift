import Glibc
import TenfourPushToTalk
import TestSupport
import Testing

/// `tenfour radio`: its configuration, and how it runs as a service.
@Suite(.onItsOwnThread) struct RadioCommandTests {
    private let folder = Folder()
    private let runtime = RuntimeFolder()

    /// Writes a configuration that captures and plays files.
    private func configure(_ lines: String = "", sections: String = "") {
        folder.write(Recording(channels: [Tone.samples(seconds: 8)]).wav(), to: "tone.wav")
        folder.write(
            """
            [radio]
            talk = 127.0.0.1:9
            port = \(UDPPort.free())
            input = tone.wav
            output = heard.wav
            \(lines)
            \(sections)
            """, to: "radio.conf")
    }

    private func radio(
        _ arguments: [String] = [], _ environment: [String: String] = [:]
    ) throws -> Program {
        try Program(
            "tenfour", ["radio", "--config", "radio.conf"] + arguments, in: folder,
            environment: ["XDG_RUNTIME_DIR": runtime.path].merging(environment) { $1 })
    }

    /// Runs `radio --check` with a configuration.
    private func check(_ text: String) throws -> (end: Program.End, output: String, errors: String) {
        folder.write(text, to: "radio.conf")
        return try tenfour(["radio", "--config", "radio.conf", "--check"], in: folder)
    }

    // MARK: The configuration

    @Test func theExampleHasEveryOptionAndNoError() throws {
        let example = try tenfour(["radio", "--example"]).output
        #expect(try check(example + "\n[radio]\ntalk = bob.local\n").end == .code(0))
        let help = try tenfour(["talk", "--help-all"]).output
        let names = Set(help.matches(of: /\n  (?:-., )*--([a-z-]+)/).map { String($0.1) })
        #expect(names.count > 30)
        for name in names.subtracting(["help", "version", "levels", "plain", "notify"]) {
            #expect(example.contains("\n#\(name) = "), "\(name)")
        }
        #expect(example.split(separator: "\n").allSatisfy { $0.count <= 100 || $0.contains(" = ") })
    }

    @Test func everyKindOfValueIsTakenOver() throws {
        let result = try check(
            """
            ; a comment
            [radio]
            talk = bob.local:5010
              name =  The mill

            [Microphone]
            time-out = none
            vox = yes
            open = off
            tones = permit,busy
            [recording]
            record = ~/radio
            """)
        #expect(result.end == .code(0), "\(result.errors)")
        #expect(result.output == "radio.conf: no errors in 7 settings\n")
    }

    @Test(
        arguments: [
            ("[radio]\ntalk = bob\ndevise = x\n", "radio.conf:3: there is no key devise: did you mean device?"),
            ("[radio]\ntalk = bob\nvox = yes\n", "radio.conf:3: vox belongs in the section [microphone]"),
            ("[radoi]\n", "radio.conf:1: there is no section [radoi]"),
            ("talk\n", "radio.conf:1: this line is neither a section such as [microphone] nor key = value"),
            ("talk = bob\ntalk = eve\n", "radio.conf:2: talk stands in line 1 already: remove one of them"),
            ("talk = bob\n[microphone]\nvox = maybe\n", "radio.conf:3: vox is yes or no"),
            ("talk =\n", "radio.conf:1: talk has no value: write one, or remove the line"),
            ("talk = bob\nport = 70000\n", "radio.conf:2: The value '70000' is invalid for '--port <port>'"),
            ("talk = tenfour://a/b#c\n", "radio.conf:1: a channel's link is a secret"),
            ("talk = -x\n", "radio.conf:1: -x is neither a host nor a channel"),
            ("\u{1B}[31m = 1\n", "radio.conf:1: there is no key"),
        ])
    func anErrorIsToldWithItsLine(text: String, sentence: String) throws {
        let result = try check(text)
        #expect(result.end == .code(78))
        #expect(result.errors.contains(sentence), "\(result.errors)")
        #expect(!result.errors.contains("\u{1B}"))
    }

    @Test func whatIsNoTextIsRefused() throws {
        folder.write([0xFF, 0xFE, 0], to: "radio.conf")
        let result = try tenfour(["radio", "--config", "radio.conf"], in: folder)
        #expect(result.end == .code(78) && result.errors.contains("is not a text file in UTF-8"), "\(result.errors)")
    }

    // MARK: The service

    @Test func itTalksAsItsConfigurationSays() throws {
        configure()
        let radio = try radio()
        try #require(radio.says("the microphone is closed"), "\(radio.errors)")
        let toggle = try Program.run("tenfour", ["ptt", "toggle"], environment: ["XDG_RUNTIME_DIR": runtime.path])
        #expect(toggle.end == .code(0), "\(toggle.errors)")
        let status = try Program.run("tenfour", ["ptt", "status"], environment: ["XDG_RUNTIME_DIR": runtime.path])
        #expect(status.output.hasPrefix("open, held by a toggle or --open"), "\(status.output)")
        radio.send(SIGTERM)
        #expect(radio.wait() == .code(0), "\(radio.errors)")
        #expect(!radio.errors.contains("\u{1B}"), "no status line")
    }

    @Test func itTellsTheServiceManagerThatItWorks() throws {
        configure()
        let manager = try NotifySocket(folder("notify.sock"))
        // As systemd does it: the variable names the stream that is standard error.
        let radio = try Program(
            "sh",
            [
                "-c", #"JOURNAL_STREAM=$(stat -L -c %d:%i /proc/self/fd/2) exec "$0" "$@""#,
                try Program.path(of: "tenfour"), "radio", "--config", "radio.conf",
            ], in: folder,
            environment: [
                "XDG_RUNTIME_DIR": runtime.path, "NOTIFY_SOCKET": manager.name, "WATCHDOG_USEC": "2000000",
            ])
        #expect(manager.next() == "READY=1\nSTATUS=starting", "\(radio.errors)")
        #expect(manager.next() == "WATCHDOG=1\nSTATUS=running")
        #expect(manager.next() == "WATCHDOG=1\nSTATUS=running")
        radio.send(SIGTERM)
        #expect(radio.wait() == .code(0), "\(radio.errors)")
        #expect(radio.errors.hasPrefix("<6>tenfour: talking with 127.0.0.1:9"), "\(radio.errors)")
    }

    /// A terminal that systemd has started inherits the variable, and so do its programs.
    @Test(arguments: ["1:2", "", "8:"]) func linesHaveLevelsOnlyForTheJournal(stream: String) throws {
        configure()
        let radio = try radio([], ["JOURNAL_STREAM": stream])
        #expect(radio.says("tenfour: talking with 127.0.0.1:9"), "\(radio.errors)")
        radio.send(SIGTERM)
        #expect(radio.wait() == .code(0) && radio.errors.hasPrefix("tenfour: "), "\(radio.errors)")
    }

    @Test func withoutACardItTriesAgain() throws {
        configure("device = notthere")
        folder.write(Folder.text(of: folder("radio.conf")).replacing("output = heard.wav", with: ""), to: "radio.conf")
        let radio = try radio()
        #expect(radio.says("no sound card named 'notthere'"), "\(radio.errors)")
        #expect(radio.says("trying again in 1 s"), "\(radio.errors)")
        #expect(radio.says("trying again in 2 s"), "\(radio.errors)")
        radio.send(SIGTERM)
        #expect(radio.wait() == .code(0), "\(radio.errors)")
    }

    @Test func withoutANameServerItTriesAgain() throws {
        configure()
        folder.write(
            Folder.text(of: folder("radio.conf")).replacing("127.0.0.1:9", with: "nobody.invalid"), to: "radio.conf")
        let radio = try radio()
        #expect(radio.says("trying again in 1 s"), "\(radio.errors)")
        #expect(radio.isRunning)
        radio.send(SIGTERM)
        #expect(radio.wait() == .code(0), "\(radio.errors)")
    }

    // MARK: The unit

    private static let unit = Repository.path("Tools/tenfour-radio.service")

    @Test func theUnitIsValid() throws {
        let unit = Folder.text(of: Self.unit).split(
            separator: "%h/.local/bin/tenfour", omittingEmptySubsequences: false)
        folder.write(unit.joined(separator: try Program.path(of: "tenfour")), to: "tenfour-radio.service")
        let result = try Program.run(
            "systemd-analyze", ["--user", "verify", "--man=no", folder("tenfour-radio.service")],
            environment: ["XDG_RUNTIME_DIR": runtime.path])
        #expect(unit.count == 2 && result.end == .code(0), "\(result.errors)")
        #expect(result.output.isEmpty && result.errors.isEmpty, "\(result.output)\(result.errors)")
    }

    /// The system calls that the unit allows are sufficient for a station with a control socket and recordings.
    @Test func itWorksUnderTheFilterOfItsUnit() throws {
        configure(sections: "[microphone]\nopen = yes\n[recording]\nrecord = heard")
        let sandbox = Repository.path("Tests/TestSupport/Servers/sandbox.py")
        let radio = try Program(
            "env",
            [
                "/usr/bin/python3", "-B", sandbox, Self.unit, try Program.path(of: "tenfour"), "radio", "--config",
                "radio.conf",
            ], in: folder, environment: ["XDG_RUNTIME_DIR": runtime.path])
        #expect(radio.says("the microphone is open"), "\(radio.errors)")
        let status = try Program.run("tenfour", ["ptt", "status"], environment: ["XDG_RUNTIME_DIR": runtime.path])
        #expect(status.output.hasPrefix("open"), "\(status.output)\(status.errors)")
        radio.send(SIGTERM)
        #expect(radio.wait() == .code(0), "\(radio.errors)")
        #expect(radio.errors.contains("sent "), "\(radio.errors)")
    }
}
