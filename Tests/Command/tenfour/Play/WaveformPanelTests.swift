import Glibc
import TestSupport
import Testing

/// The waveform above the status line, the mouse in it, and the keys that do the same, in a pseudo-terminal.
@Suite(.onItsOwnThread, .inRealTime) struct WaveformPanelTests {
    private let folder = Folder()
    private let cache = Folder()

    private static let mouseOn = "\u{1B}[?1002h\u{1B}[?1006h"
    private static let mouseOff = "\u{1B}[?1002l\u{1B}[?1006l"

    init() throws {
        folder.write("pcm.!default { type null }", to: "asound.conf")
        let samples = Tone.samples(seconds: 10)
        folder.write(Recording(channels: [(0..<10).flatMap { _ in samples }]).wav(), to: "long.wav")
    }

    private func play(
        _ terminal: Terminal, _ options: [String] = [], _ environment: [String: String] = [:]
    ) throws -> Program {
        let usual = [
            "ALSA_CONFIG_PATH": folder("asound.conf"), "XDG_CACHE_HOME": cache.path, "TERM": "xterm-256color",
            "NO_COLOR": "",
        ]
        return try Program(
            "tenfour", ["play", "--no-mpris", folder("long.wav")] + options,
            environment: usual.merging(environment) { $1 }, terminal: terminal)
    }

    /// Types a press of the mouse, and answers where the cursor is. Returns false if nobody asked.
    private func press(_ terminal: Terminal, _ program: Program, column: Int, line: Int, cursor: Int) -> Bool {
        let count = asked(terminal)
        terminal.type("\u{1B}[<0;\(column);\(line)M")
        guard program.wait(.seconds(20), until: { asked(terminal) > count }) else { return false }
        terminal.type("\u{1B}[\(cursor);1R")
        return true
    }

    private func asked(_ terminal: Terminal) -> Int { terminal.shown.split(separator: "\u{1B}[6n").count }

    private func end(_ player: Program, _ terminal: Terminal) {
        terminal.type("q")
        #expect(player.wait(.seconds(20)) == .code(0))
        #expect(terminal.shown.contains(Self.mouseOff) && terminal.localModes & tcflag_t(ICANON | ECHO) != 0)
    }

    @Test func aClickSeeksAndADragIsFollowed() throws {
        let terminal = Terminal(columns: 81)
        let player = try play(terminal)
        #expect(player.says("⣿") && player.says(Self.mouseOn))
        // The picture has seven lines from the cursor's line on, and its 80 columns stand for 100 s.
        #expect(press(terminal, player, column: 33, line: 12, cursor: 10))
        #expect(player.says("▶ 00:40 / 01:40"), "\(terminal.statuses)")
        terminal.type("\u{1B}[<32;49;3M")
        #expect(player.says("▶ 01:00 / 01:40"), "\(terminal.statuses)")
        terminal.type("\u{1B}[<32;50;3M\u{1B}[<0;57;1m")
        #expect(player.says("▶ 01:10 / 01:40"), "\(terminal.statuses)")
        end(player, terminal)
    }

    @Test func aClickElsewhereAndAReportThatIsNoneDoNothing() throws {
        let terminal = Terminal(columns: 81)
        let player = try play(terminal)
        #expect(player.says(Self.mouseOn))
        for (line, cursor) in [(9, 10), (17, 10)] {
            #expect(press(terminal, player, column: 65, line: line, cursor: cursor))
        }
        terminal.type("\u{1B}[<64;65;12M\u{1B}[<0;0;0M\u{1B}[<0;65M\u{1B}[12;1R")
        terminal.type("p")
        #expect(player.says("⏸ 00:0"), "\(terminal.statuses)")
        #expect(!terminal.shown.contains("01:2"))
        end(player, terminal)
    }

    @Test func keysGoWhereTheMouseGoes() throws {
        let terminal = Terminal(columns: 81)
        let player = try play(terminal)
        #expect(player.says("▶ 00:00 / 01:40"))
        terminal.type("p")
        #expect(player.says("⏸ 00:0"))
        terminal.type("5")
        #expect(player.says("⏸ 00:50"))
        terminal.type("g1:23")
        #expect(player.says("go to: 1:23"))
        terminal.type("\n")
        #expect(player.says("⏸ 01:23"))
        terminal.type("g25%\n")
        #expect(player.says("⏸ 00:25"))
        terminal.type("g9\u{1B}")
        #expect(player.says("go to: 9"))
        terminal.type("g83s\n")
        #expect(player.says("⏸ 01:23"))
        terminal.type("gsoon\n")
        #expect(player.says("write a time such as 1:23"))
        terminal.type("0")
        #expect(player.says("⏸ 00:00"))
        end(player, terminal)
    }

    @Test func aKeyHidesThePictureAndTheMouseIsFreeAgain() throws {
        let terminal = Terminal()
        let player = try play(terminal)
        #expect(player.says(Self.mouseOn))
        terminal.type("w")
        #expect(player.says(Self.mouseOff) && player.says("[●"))
        terminal.type("w")
        #expect(player.wait(.seconds(20)) { terminal.shown.split(separator: Self.mouseOn).count > 2 })
        end(player, terminal)
    }

    @Test(arguments: [
        (columns: 100, rows: 7, options: [String](), environment: [String: String]()), (29, 24, [], [:]),
        (100, 24, ["--no-waveform"], [:]), (100, 24, [], ["NO_COLOR": "1"]), (100, 24, [], ["TERM": "dumb"]),
    ])
    func whereItHasNoPlaceThereIsOneLine(
        columns: UInt16, rows: UInt16, options: [String], environment: [String: String]
    ) throws {
        let terminal = Terminal(columns: columns, rows: rows)
        let player = try play(terminal, options, environment)
        #expect(player.says("▶ 00:01 / 01:40"))
        #expect(!terminal.shown.contains(Self.mouseOn) && !terminal.shown.contains("│"))
        player.send(SIGINT)
        #expect(player.wait(.seconds(20)) == .code(0))
    }

    @Test func itFollowsTheSizeOfTheTerminal() throws {
        let terminal = Terminal(columns: 41, rows: 10)
        let player = try play(terminal)
        func hasPicture(_ lines: Int, _ columns: Int) -> Bool {
            player.wait(.seconds(20)) {
                let rows = terminal.shown.split(separator: "\u{1B}[J").last.map { plain(String($0)) } ?? []
                return rows.count { $0.count == columns } == lines
            }
        }
        #expect(hasPicture(3, 40), "\(terminal.shown)")
        terminal.resize(columns: 81, rows: 24)
        #expect(hasPicture(7, 80), "\(terminal.shown)")
        end(player, terminal)
    }

    /// Returns the lines drawn first after a clearing, without colours and modes.
    private func plain(_ text: String) -> [String] {
        text.replacing(/\u{1B}\[[?0-9;]*[mhl]/, with: "").replacing("\r\n", with: "\n").replacing("\r", with: "")
            .split(separator: "\n").prefix(12).map { $0.replacing("\u{1B}[K", with: "") }.map(String.init)
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT])
    func theTerminalIsRestoredWhateverEndsIt(signal: Int32) throws {
        let terminal = Terminal()
        let before = terminal.localModes
        let player = try play(terminal)
        #expect(player.says(Self.mouseOn) && terminal.localModes != before)
        player.send(signal)
        let end = player.wait(.seconds(20))
        #expect([SIGTERM, SIGINT, SIGHUP].contains(signal) ? end == .code(0) : end == .signal(signal))
        #expect(terminal.shown.contains(Self.mouseOff) && terminal.localModes == before)
    }

    @Test func aWaveformIsKeptAndReplacedIfItIsDamaged() throws {
        defer {
            for name in names { unsafe unlink(cache("tenfour/waveforms/\(name)")) }
            unsafe rmdir(cache("tenfour/waveforms"))
            unsafe rmdir(cache("tenfour"))
        }
        folder.write(Recording(channels: [Tone.samples(seconds: 5)]).wav(), to: "long.wav")
        var first: [UInt8] = []
        for round in 0..<3 {
            let terminal = Terminal()
            let player = try play(terminal, ["--loop"])
            #expect(player.wait(.seconds(60)) { names.count == 1 }, "\(names)")
            let path = cache("tenfour/waveforms/\(names.first ?? "")")
            let isGood = player.wait(.seconds(60)) {
                let bytes = Folder.bytes(of: path)
                if round == 0 { first = bytes }
                return bytes.count == 44 + 8 * 2_000 + 32 && bytes == first
            }
            try #require(isGood, "round \(round)")
            player.send(SIGINT)
            player.wait(.seconds(20))
            // Damages one byte.
            let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
            let isWritten = unsafe pwrite(file, [first[100] ^ 1], 1, 100) == 1
            #expect(isWritten)
            close(file)
        }
    }

    private var names: [String] {
        guard let folder = unsafe opendir(cache("tenfour/waveforms")) else { return [] }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
                unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name.count == 64 { names.append(name) }
        }
        return names
    }
}
