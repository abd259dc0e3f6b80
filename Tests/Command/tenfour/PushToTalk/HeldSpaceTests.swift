import Glibc
import TestSupport
import Testing

/// Space in a terminal that reports releases. The test answers as such a terminal does.
@Suite(.onItsOwnThread, .inRealTime) struct HeldSpaceTests {
    private let folder = Folder()
    private let terminal = Terminal()

    private static let press = "\u{1B}[32;;32u"
    private static let again = "\u{1B}[32;1:2;32u"
    private static let release = "\u{1B}[32;1:3u"
    private static let unfocus = "\u{1B}[O"

    /// Answers the questions of a session that begins.
    private func answer(_ program: Program, flags: Int = 31) -> Bool {
        guard program.says("\u{1B}[?u\u{1B}[c") else { return false }
        terminal.type("\u{1B}[?0u\u{1B}[?62;22c")
        guard program.says("\u{1B}[>31u\u{1B}[?1004h\u{1B}[?u") else { return false }
        terminal.type("\u{1B}[?\(flags)u")
        return flags != 31 || program.says("hold space to talk")
    }

    private func session(to port: UInt16 = 9) throws -> TalkSession {
        let session = try TalkSession(in: folder, to: port, terminal: terminal)
        try #require(answer(session.program), "\(terminal.shown)")
        return session
    }

    @Test func spaceHoldsUntilItsRelease() throws {
        let session = try session()
        terminal.type(Self.press)
        #expect(session.becomes("open") && session.status()?.holders == #"["keyboard"]"#)
        for _ in 0..<25 {
            session.program.wait(.milliseconds(100)) { false }
            terminal.type(Self.again)
        }
        #expect(session.status()?.microphone == "open", "repeats hold it for longer than 1.5 s")
        terminal.type(Self.release)
        #expect(session.becomes("closed", within: TalkSession.limit))
        terminal.type("\u{1B}[47:63;2;63u")
        #expect(session.program.says("tenfour: hold space to talk, m mutes the speaker, q quits"), "\(terminal.shown)")
        terminal.type("\u{1B}[113;;113u")
        #expect(session.program.wait() == .code(0))
        #expect(terminal.shown.contains("\u{1B}[<u\u{1B}[?1004l"), "the terminal is restored")
    }

    /// From the key to the first packet: at most the rest of the frame of 20 ms in which the key goes down, and the way
    /// through the program. The median, since the machine may stand still now and then.
    @Test func aKeyIsOnTheAirWithin25Milliseconds() throws {
        let listener = PlainSocket()
        let session = try session(to: listener.port)
        var delays: [Duration] = []
        for _ in 0..<11 {
            while listener.receive(within: 0) != nil {}
            let pressed = ContinuousClock.now
            terminal.type(Self.press)
            while let packet = listener.receive(within: 1_000), Self.isReport(packet) {}
            delays.append(ContinuousClock.now - pressed)
            terminal.type(Self.release)
            #expect(session.becomes("closed"))
            session.program.wait(.milliseconds(40)) { false }
        }
        delays.sort()
        #expect(delays[5] <= .milliseconds(25), "\(delays)")
    }

    /// Whether a datagram is RTCP (RFC 5761 section 4).
    private static func isReport(_ datagram: [UInt8]) -> Bool {
        datagram.count > 1 && (192...223).contains(datagram[1])
    }

    @Test func withoutRepeatsItIsReleased() throws {
        let session = try session()
        terminal.type(Self.press)
        #expect(session.becomes("open"))
        #expect(session.becomes("closed", within: .seconds(3)))
        #expect(session.program.says("tenfour: space no longer repeats: the microphone is closed"), "\(terminal.shown)")
    }

    @Test func aTerminalThatLosesTheFocusReleasesWithinHalfASecond() throws {
        let session = try session()
        for attempt in 0..<100 {
            terminal.type(Self.press)
            try #require(session.becomes("open"), "attempt \(attempt)")
            terminal.type(Self.unfocus)
            #expect(session.becomes("closed", within: TalkSession.limit), "attempt \(attempt)")
        }
    }

    /// Each attempt needs a session. Ten are enough here; a hundred were tried.
    @Test(arguments: 0..<10) func aTerminalThatIsClosedReleasesWithinHalfASecond(attempt: Int) throws {
        let session = try session()
        terminal.type(Self.press)
        try #require(session.becomes("open"))
        terminal.hangUp()
        #expect(session.becomes("closed", within: TalkSession.limit))
        #expect(session.program.wait() == .code(0), "\(session.program.errors)")
    }

    /// Such a terminal reports Ctrl-C as a key.
    @Test(arguments: ["\u{1B}[99;5u", "\u{1B}[1089::99;133u"]) func ctrlCEnds(key: String) throws {
        let session = try session()
        terminal.type(key)
        #expect(session.program.wait() == .code(0))
        #expect(terminal.shown.contains("\u{1B}[<u\u{1B}[?1004l"))
    }

    @Test(arguments: [SIGTERM, SIGHUP]) func aSignalRestoresTheTerminal(signal: Int32) throws {
        let before = terminal.localModes
        let session = try session()
        session.program.send(signal)
        #expect(session.program.wait() == .code(0))
        #expect(terminal.shown.contains("\u{1B}[<u\u{1B}[?1004l") && terminal.localModes == before)
    }

    /// Without the flag that reports all keys there is no promise that a release of space is reported.
    @Test func aTerminalWithoutAllFlagsToggles() throws {
        let session = try TalkSession(in: folder, terminal: terminal)
        #expect(answer(session.program, flags: 1))
        #expect(session.program.says("\u{1B}[<u\u{1B}[?1004l"), "the flags are taken back")
        terminal.type(" ")
        #expect(session.becomes("open"))
        session.program.wait(.seconds(2)) { false }
        #expect(session.status()?.microphone == "open")
        terminal.type(" ")
        #expect(session.becomes("closed"))
    }

    @Test func aPlainTerminalToggles() throws {
        let session = try TalkSession(in: folder, terminal: terminal)
        terminal.type("\u{1B}[?62;22c")
        #expect(session.program.says("tenfour: the microphone is closed: space opens it"), "\(terminal.shown)")
        terminal.type(" ")
        #expect(session.becomes("open"))
        terminal.type(Self.unfocus)
        session.program.wait(.milliseconds(700)) { false }
        #expect(session.status()?.microphone == "open", "a toggle needs no focus")
        terminal.type(" ")
        #expect(session.becomes("closed"))
        #expect(!terminal.shown.contains("\u{1B}[>"))
    }

    @Test func anAnswerThatIsLateCountsToo() throws {
        let session = try TalkSession(in: folder, terminal: terminal)
        #expect(session.program.says("tenfour: the microphone is closed: space opens it"), "\(terminal.shown)")
        #expect(answer(session.program))
        #expect(session.program.says("tenfour: this terminal reports when a key is released: hold space to talk"))
        terminal.type(Self.press)
        #expect(session.becomes("open"))
        terminal.type(Self.release)
        #expect(session.becomes("closed", within: TalkSession.limit))
    }

    /// Ctrl-Z as a key in a shell with job control: the shell's terminal is a plain one until `fg`.
    @Test func ctrlZRestoresTheTerminalUntilTheForegroundIsBack() throws {
        let runtime = RuntimeFolder()
        folder.write(longTone, to: "long.wav")
        let shell = try Program(
            "bash", ["--norc", "--noprofile", "--noediting", "-i"], in: folder,
            environment: ["PATH": Program.searchPath, "PS1": "ready> ", "XDG_RUNTIME_DIR": runtime.path],
            terminal: terminal)
        try #require(shell.says("ready> "), "\(terminal.shown)")
        terminal.type("tenfour talk 127.0.0.1:9 --input long.wav -o heard.wav -p \(UDPPort.free())\n")
        try #require(answer(shell), "\(terminal.shown)")
        terminal.type(Self.press)
        #expect(shell.says("ON AIR"))
        terminal.type("\u{1B}[122;5u")
        #expect(shell.says("\u{1B}[<u\u{1B}[?1004l"), "\(terminal.shown)")
        #expect(
            shell.wait(.seconds(20)) { terminal.shown.hasSuffix("ready> ") },
            "\(terminal.shown)")
        let count = terminal.shown.split(separator: "\u{1B}[>31u").count
        terminal.type("fg\n")
        #expect(shell.wait(.seconds(20)) { terminal.shown.split(separator: "\u{1B}[>31u").count > count })
        #expect(shell.wait(.seconds(20)) { terminal.statuses.last?.hasPrefix("mic closed") == true })
        terminal.type("\u{1B}[113;;113u")
        #expect(shell.wait(.seconds(20)) { terminal.shown.hasSuffix("ready> ") }, "\(terminal.shown)")
    }
}
