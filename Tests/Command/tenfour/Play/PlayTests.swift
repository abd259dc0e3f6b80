import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TestSupport
import Testing

/// `tenfour play`: its messages, its output files and its keys, on a card that discards the audio.
@Suite(.onItsOwnThread, .inRealTime) struct PlayTests {
    private let folder = Folder()

    private func tone(_ name: String, seconds: Double) throws -> String {
        var file = try AudioFileWriter(path: folder(name), format: .mono)
        try file.write(Tone.samples(seconds: seconds).span)
        try file.close()
        return folder(name)
    }

    private var nullCard: [String: String] {
        folder.write("pcm.!default { type null }", to: "asound.conf")
        return ["ALSA_CONFIG_PATH": folder("asound.conf")]
    }

    @Test func aQueueIsWrittenToAFile() throws {
        let names = try [tone("one.wav", seconds: 1), tone("two.wav", seconds: 0.5)]
        let run = try Program.run("tenfour", ["play"] + names + ["-o", folder("both.wav"), "--channels", "1"])
        #expect(run.end == .code(0))
        #expect(run.errors.contains("1/2 \(names[0])") && run.errors.contains("2/2 \(names[1])"))
        let file = try AudioFileReader(path: folder("both.wav"))
        #expect(file.frameCount == FrameCount(72_000))
    }

    /// The usual fade-out of half a second must not take the whole of a short duration.
    @Test func aShortDurationIsPlayedAndItsErrorsAreTold() throws {
        let name = try tone("tone.wav", seconds: 2)
        for options in [["--duration", "0.4"], ["--duration", "1", "--fade-out", "5"]] {
            let played = try Program.run("tenfour", ["play", name] + options, environment: nullCard)
            #expect(played.end == .code(0) && played.errors.contains(name), "\(played.errors)")
            let missing = try Program.run("tenfour", ["play", "/nowhere.wav"] + options, environment: nullCard)
            #expect(missing.end == .code(69) && missing.errors.contains("/nowhere.wav"), "\(missing.errors)")
        }
    }

    @Test func itStartsLaterSlowerAndLower() throws {
        let name = try tone("tone.wav", seconds: 2)
        let options = [
            "--start", "0:01", "--rate", "0.5", "--pitch", "-300", "--volume", "50", "-o", folder("out.wav"),
        ]
        #expect(try Program.run("tenfour", ["play", name] + options).end == .code(0))
        let frames = try #require(try AudioFileReader(path: folder("out.wav")).frameCount)
        #expect(abs(frames.rawValue - 96_000) < 4_800)
    }

    /// The tone has 920 Hz, so a low-pass filter at 230 Hz lowers it by 24 dB.
    @Test func filtersAndTonesAreHeard() throws {
        let name = try tone("tone.wav", seconds: 2)
        func level(_ options: [String]) throws -> Double {
            let run = try Program.run("tenfour", ["play", name, "-o", folder("out.wav")] + options)
            #expect(run.end == .code(0), "\(run.errors)")
            let sound = try Recording(wav: folder("out.wav")).channels[0]
            #expect(sound.count == 96_000, "every frame, whatever the latency")
            return 10 * log10(sound[24_000..<72_000].reduce(0) { $0 + Double($1 * $1) } / 48_000)
        }
        let before = try level([])
        #expect(abs(try level(["--eq", "lowpass:230"]) - before + 24.1) < 0.3)
        #expect(abs(try level(["--eq", "peak:920:-6:2", "--bass", "0", "--treble", "0"]) - before + 6) < 0.1)
        #expect(try level(["--treble", "-20"]) < before - 0.2)
        #expect(try level(["--bass", "-20"]) < before - 0.2)
        let normal = try level(["--normalize"])
        #expect(abs(normal - before) > 1)
    }

    @Test func wrongFiltersGetASentence() throws {
        let run = try Program.run("tenfour", ["play", "song.mp3", "--eq", "base:+4"], in: folder)
        #expect(run.errors.contains("--eq: there is no filter \"base\": write one of bass, mid, treble"))
    }

    @Test func aPlaylistIsPlayedFromItsFolder() throws {
        _ = try tone("one.wav", seconds: 0.25)
        folder.write("#EXTM3U\n#EXTINF:1,One\none.wav\nnone.wav\none.wav\n", to: "list.m3u")
        let run = try Program.run("tenfour", ["play", folder("list.m3u"), "-o", folder("out.wav"), "--channels", "1"])
        #expect(run.end == .code(3), "a part of the list was not played")
        #expect(run.errors.contains("skipped \(folder("none.wav"))"))
        #expect(try AudioFileReader(path: folder("out.wav")).frameCount == FrameCount(24_000))
    }

    @Test(arguments: [
        "/nowhere/song.mp3", "/dev/null", "http://127.0.0.1:1/song.mp3", "gopher://example.org/song", "/etc/passwd",
    ])
    func unplayableInputGetsAClearError(address: String) throws {
        let run = try Program.run("tenfour", ["play", address, "-o", folder("out.wav")])
        #expect(run.end == .code(69))
        #expect(run.errors.hasPrefix("tenfour: ") && run.errors.count { $0 == "\n" } == 1)
    }

    @Test(arguments: [
        ["--rate", "0"], ["--rate", "99"], ["--pitch", "9999"], ["--volume", "101"], ["--start", "1:99"],
        ["--buffer-size", "none"], ["--eq", "base:+4"], ["--eq", "peak:1000"], ["--bass", "21"], ["--treble", "nan"],
        ["--start-after", "90"], ["--loop", "-o", "x.wav"], ["--repeat", "one", "-o", "x.wav"], ["--repeat", "none"],
        ["--loop", "--repeat", "one"], ["--crossfade", "31"], ["--resume", "-o", "x.wav"], ["--channels", "3"],
        ["--header", "nocolon"],
    ])
    func contradictoryOptionsAreRefused(options: [String]) throws {
        #expect(try Program.run("tenfour", ["play", "song.mp3"] + options, in: folder).end == .code(2))
    }

    @Test func aPipeIsWrittenToItsEnd() throws {
        let name = try tone("tone.wav", seconds: 10)
        let pipe = Pipe()
        let writer = try Program("cat", [name], output: .descriptor(pipe.input))
        let player = try Program(
            "tenfour", ["play", "-", "-o", folder("out.wav"), "--channels", "1"], input: .descriptor(pipe.output))
        pipe.closeInput()
        #expect(player.wait(.seconds(60)) == .code(0))
        writer.wait()
        #expect(try AudioFileReader(path: folder("out.wav")).frameCount == FrameCount(480_000))
    }

    @Test func itEndsAfterTheDurationInAFile() throws {
        let name = try tone("tone.wav", seconds: 10)
        let run = try Program.run(
            "tenfour", ["play", name, "--duration", "2.5", "-o", folder("out.wav"), "--channels", "1"])
        #expect(run.end == .code(0))
        #expect(try AudioFileReader(path: folder("out.wav")).frameCount == FrameCount(120_000))
    }

    @Test func aStartBehindTheEndIsReportedWithTheLength() throws {
        let name = try tone("tone.wav", seconds: 10)
        let run = try Program.run("tenfour", ["play", name, "--start", "1:39", "-o", folder("out.wav")])
        #expect(run.end == .code(69))
        #expect(
            run.errors == "tenfour: \(name): it contains no audio after 1:39, since it ends at 0:10; start earlier\n")
    }

    @Test func theInputIsNotOverwritten() throws {
        let name = try tone("tone.wav", seconds: 1)
        #expect(unsafe symlink(name, folder("link.wav")) == 0)
        for output in [name, folder("link.wav")] {
            #expect(try Program.run("tenfour", ["play", name, "-o", output]).end == .code(2))
            #expect(try Program.run("tenfour", ["play", folder.path, "-o", output]).end == .code(2))
        }
        #expect(try AudioFileReader(path: name).frameCount == FrameCount(48_000))
    }

    @Test func errorsNameTheFile() throws {
        folder.write("", to: "empty.mp3")
        let run = try Program.run("tenfour", ["play", folder("empty.mp3"), "-o", folder("out.wav")])
        #expect(run.end == .code(69))
        #expect(run.errors.hasPrefix("tenfour: \(folder("empty.mp3")): "))
    }

    @Test func aFolderIsWrittenInNaturalOrderAndWithCrossfades() throws {
        for (name, seconds) in [("10.wav", 1.0), ("2.wav", 2.0), ("1.wav", 1.0)] {
            _ = try tone(name, seconds: seconds)
        }
        let output = Folder()
        for (options, frameCount) in [([], 192_000.0), (["--crossfade", "500ms"], 144_000)] {
            let run = try Program.run(
                "tenfour", ["play", folder.path, "-o", output("out.wav"), "--channels", "1"] + options)
            #expect(run.end == .code(0), "\(run.errors)")
            let places = ["1/3 \(folder("1.wav"))", "2/3 \(folder("2.wav"))", "3/3 \(folder("10.wav"))"]
            #expect(places.allSatisfy { run.errors.contains($0) })
            let frames = try #require(try AudioFileReader(path: output("out.wav")).frameCount)
            #expect(abs(Double(frames.rawValue) - frameCount) < 4_800)
        }
    }

    @Test func anOutputInTheFolderIsNotPlayed() throws {
        let name = try tone("1.wav", seconds: 1)
        let run = try Program.run("tenfour", ["play", folder.path, "-o", folder("out.wav"), "--channels", "1"])
        #expect(run.end == .code(0) && run.errors.contains("tenfour: \(name)\n"), "\(run.errors)")
        #expect(try AudioFileReader(path: folder("out.wav")).frameCount == FrameCount(48_000))
    }

    @Test func keysShuffleRepeatAndListTheQueue() throws {
        let names = try [tone("1.wav", seconds: 100), tone("2.wav", seconds: 100)]
        let terminal = Terminal()
        let player = try Program("tenfour", ["play"] + names, environment: nullCard, terminal: terminal)
        #expect(player.says("▶ 00:00 / 01:40"))
        terminal.type("l")
        #expect(player.says("> 1 \(names[0])") && player.says("  2 \(names[1])"))
        terminal.type("s")
        #expect(player.says("shuffled"))
        terminal.type("sr")
        #expect(player.says("repeats all"))
        terminal.type("r")
        #expect(player.says("repeats one"))
        terminal.type(">l")
        #expect(player.says("> 2 \(names[1])"))
        terminal.type("q")
        #expect(player.wait(.seconds(20)) == .code(0))
    }

    @Test func aLongItemGoesOnWhereItWasLeft() throws {
        let name = folder("long.wav")
        var file = try AudioFileWriter(path: name, format: LPCMFormat(rate: SampleRate(hertz: 8_000), channelCount: 1))
        let minute = [Float](repeating: 0.1, count: 8_000 * 60)
        for _ in 0..<11 { try file.write(minute.span) }
        try file.close()
        let state = Folder()
        defer {
            unsafe unlink(state("tenfour/positions"))
            unsafe rmdir(state("tenfour"))
        }
        var environment = nullCard
        environment["XDG_STATE_HOME"] = state.path
        for (start, shown) in [(["--start", "5:00"], "05:0"), ([], "05:0")] {
            let player = try Program(
                "tenfour", ["play", name, "--resume"] + start, environment: environment, terminal: Terminal())
            #expect(player.says("▶ \(shown)"))
            player.send(SIGINT)
            #expect(player.wait(.seconds(20)) == .code(0))
        }
    }

    @Test func aFolderGoesOnAtTheItemWhereItWasLeft() throws {
        let (album, state) = (Folder(), Folder())
        defer {
            unsafe unlink(state("tenfour/positions"))
            unsafe rmdir(state("tenfour"))
        }
        for name in ["1.wav", "2.wav", "3.wav"] {
            var file = try AudioFileWriter(path: album(name), format: .mono)
            try file.write([Float](repeating: 0.1, count: 48_000 * 20).span)
            try file.close()
        }
        var environment = nullCard
        environment["XDG_STATE_HOME"] = state.path
        for key in [">", ""] {
            let terminal = Terminal()
            let player = try Program(
                "tenfour", ["play", album.path, "--resume"], environment: environment, terminal: terminal)
            if !key.isEmpty {
                #expect(player.says("1/3 "))
                terminal.type(key)
            }
            #expect(player.says("2/3 ") && player.says("▶ 00:0"))
            #expect(key == ">" || !terminal.shown.contains("1/3 "), "nothing of the first item is played")
            player.send(SIGINT)
            #expect(player.wait(.seconds(20)) == .code(0))
        }
    }

    @Test func keysDoWhatTheyDoInMPV() throws {
        let name = try tone("long.wav", seconds: 100)
        let terminal = Terminal()
        let player = try Program("tenfour", ["play", name], environment: nullCard, terminal: terminal)
        #expect(player.says("▶ 00:00 / 01:40"))
        terminal.type(" ")
        #expect(player.says("⏸ 00:0"))
        terminal.type("\u{1B}[A")
        #expect(player.says("⏸ 01:0"))
        terminal.type("])/m")
        #expect(player.says("×1.10  +100 ct  muted"))
        // Steps of a tenth stop at 1.5 and 2; braces double or halve the rate.
        terminal.type("]]]]")
        #expect(player.says("×1.50  +100 ct"))
        terminal.type("]]]")
        #expect(player.says("×2.00  +100 ct"))
        terminal.type("}")
        #expect(player.says("×4.00  +100 ct"))
        terminal.type("{{{(")
        #expect(player.says("×0.50  muted"))
        terminal.type("BBBtt")
        #expect(player.says("bass +3 dB  treble -2 dB"))
        terminal.type("bbbTT")
        #expect(player.says("×0.50  muted"))
        terminal.type("?")
        #expect(player.says("b and B the bass, t and T the treble"))
        #expect(player.says("q fades out and quits"))
        terminal.type(" ")
        #expect(player.says("▶ 01:0"))
        terminal.type("q")
        #expect(player.wait(.seconds(20)) == .code(0))
    }

    /// An output file has the rate and channels of the first item by default.
    @Test func aWrittenFileIsSampledLikeTheSound() throws {
        let sound = [Float](repeating: 0.1, count: 22_050)
        for channels in [1, 2] {
            let recording = Recording(rate: 22_050, channels: Array(repeating: sound, count: channels))
            folder.write(recording.wav(), to: "in.wav")
            folder.write("in.wav\n", to: "list.m3u")
            for name in ["in.wav", "list.m3u"] {
                #expect(try Program.run("tenfour", ["play", folder(name), "-o", folder("out.wav")]).end == .code(0))
                let written = try Recording(wav: folder("out.wav"))
                #expect(written.rate == 22_050 && written.channels.count == channels && abs(written.seconds - 1) < 0.01)
            }
        }
        let told = ["--sample-rate", "44100", "--channels", "1"]
        #expect(try Program.run("tenfour", ["play", folder("in.wav"), "-o", folder("out.wav")] + told).end == .code(0))
        let written = try Recording(wav: folder("out.wav"))
        #expect(written.rate == 44_100 && written.channels.count == 1 && abs(written.seconds - 1) < 0.01)
    }

    /// The header of a file that is still being written states no length, or the length so far.
    @Test(arguments: [0, 96_000]) func aFileThatGrowsIsPlayedToItsNewEnd(told: Int) throws {
        let whole = Recording(channels: [Tone.samples(seconds: 4)]).wav()
        var bytes = Array(whole.prefix(44 + 96_000))
        func tell(_ count: Int) {
            for index in 0..<4 { bytes[40 + index] = UInt8(truncatingIfNeeded: count >> (8 * index)) }
        }
        tell(told)
        folder.write(bytes, to: "growing.wav")
        let player = try Program("tenfour", ["play", folder("growing.wav")], environment: nullCard)
        #expect(player.says("growing.wav"))
        let file = unsafe open(folder("growing.wav"), O_WRONLY | O_CLOEXEC)
        defer { close(file) }
        let rest = Array(whole.dropFirst(bytes.count))
        #expect(unsafe pwrite(file, rest, rest.count, off_t(bytes.count)) == rest.count)
        if told > 0 {
            tell(whole.count - 44)
            #expect(unsafe pwrite(file, Array(bytes[40..<44]), 4, 40) == 4)
        }
        let begin = ContinuousClock.now
        #expect(player.wait(.seconds(30)) == .code(0), "\(player.errors)")
        #expect(ContinuousClock.now - begin > .seconds(2), "playback ended at the file's initial length")
    }

    @Test func itsLevelScrollsByAboveTheStatusLine() throws {
        let name = try tone("long.wav", seconds: 100)
        let player = try Program("tenfour", ["play", "-V", name], environment: nullCard, terminal: Terminal())
        #expect(player.says("0 dB"))
        #expect(player.says("level"))
        #expect(player.says("█"))
        player.send(SIGINT)
        #expect(player.wait(.seconds(20)) == .code(0))
    }

    @Test func aSignalEndsItInTime() throws {
        let player = try Program("tenfour", ["play", tone("long.wav", seconds: 100)], environment: nullCard)
        #expect(player.says("long.wav"))
        player.send(SIGINT)
        #expect(player.wait(.seconds(20)) == .code(0))
    }
}
