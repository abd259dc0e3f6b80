import TestSupport
import Testing

/// Input of any sample format and rate is received with the right pitch.
@Suite(.onItsOwnThread, .inRealTime) struct InputTests {
    struct Sort: CustomTestStringConvertible {
        var rate = 48_000
        var channelCount = 1
        var coding = Recording.Coding.signed16
        var testDescription: String { "\(rate) Hz, \(channelCount) channels, \(coding)" }
    }

    @Test(arguments: [
        Sort(rate: 44_100), Sort(rate: 8_000), Sort(rate: 96_000), Sort(channelCount: 2), Sort(channelCount: 6),
        Sort(coding: .signed24), Sort(rate: 44_100, channelCount: 2, coding: .float32),
    ])
    func aWAVOfAnySortIsHeard(sort: Sort) throws {
        let receiver = try Receiver()
        let tone = Tone.samples(seconds: 2, rate: sort.rate)
        let recording = Recording(rate: sort.rate, channels: Array(repeating: tone, count: sort.channelCount))
        receiver.folder.write(recording.wav(sort.coding), to: "in.wav")
        let sent = try tenfour(["send", "--input", "in.wav", receiver.uri], in: receiver.folder)
        #expect(sent.end == .code(0), "\(sent.errors)")
        let heard = try receiver.tone()
        expectWhole(heard, seconds: 2)
        #expect(abs(heard.level + 9.03) < 1, "\(heard)")
    }

    @Test(arguments: ["flac", "ogg", "aiff"])
    func soundInOtherContainersIsHeard(container: String) throws {
        let receiver = try Receiver()
        receiver.folder.write(Recording(channels: [Tone.samples(seconds: 2)]).wav(), to: "in.wav")
        let made = try Program.run("sox", ["in.wav", "in.\(container)"], in: receiver.folder)
        try #require(made.end == .code(0), "\(made.errors)")
        let sent = try tenfour(["send", "--input", "in.\(container)", receiver.uri], in: receiver.folder)
        #expect(sent.end == .code(0), "\(sent.errors)")
        expectWhole(try receiver.tone(), seconds: 2)
    }

    /// Runs `player | tenfour send --input - …`.
    private func pipe(
        _ player: String, _ arguments: [String], _ options: [String], to receiver: Receiver,
        while body: (Program) throws -> Void = { _ in }
    ) throws {
        let pipe = Pipe()
        let player = try Program(player, arguments, in: receiver.folder, output: .descriptor(pipe.input))
        let sender = try Program(
            "tenfour", ["send", "--input", "-", receiver.uri] + options, input: .descriptor(pipe.output))
        pipe.closeInput()
        try body(player)
        player.wait()
        #expect(sender.wait() == .code(0), "\(sender.errors)")
    }

    @Test func soxPipesSamplesWithoutAHeader() throws {
        let receiver = try Receiver()
        receiver.folder.write(Recording(channels: [Tone.samples(seconds: 2)]).wav(), to: "in.wav")
        try pipe(
            "sox", ["in.wav", "-t", "raw", "-r", "44100", "-c", "2", "-e", "signed", "-b", "16", "-"],
            ["-f", "S16_LE", "-r", "44100", "-c", "2"], to: receiver)
        expectWhole(try receiver.tone(), seconds: 2)
    }

    @Test func soxPipesAWAV() throws {
        let receiver = try Receiver()
        receiver.folder.write(Recording(channels: [Tone.samples(seconds: 2)]).wav(), to: "in.wav")
        try pipe("sox", ["in.wav", "-t", "wav", "-b", "24", "-"], [], to: receiver)
        expectWhole(try receiver.tone(), seconds: 2)
    }

    /// A microphone captured with arecord.
    @Test(.needsLabcard, arguments: ["raw", "wav"])
    func arecordPipesALiveMicrophone(type: String) throws {
        let receiver = try Receiver()
        receiver.folder.write(Recording(channels: [Tone.samples(seconds: 10)]).wav(), to: "in.wav")
        let wire = "labcard:pipe-\(type)"
        let speaker = try Program("aplay", ["-q", "-D", wire, "in.wav"], in: receiver.folder)
        let arguments = ["-q", "-D", wire, "-f", "S16_LE", "-r", "48000", "-c", "1", "-t", type, "-d", "2"]
        try pipe("arecord", arguments, type == "raw" ? ["-f", "S16_LE"] : [], to: receiver) { _ in }
        let tone = try receiver.tone()
        #expect(abs(tone.frequency - Tone.telling) < 1 && tone.duration > 1, "\(tone), \(speaker.errors)")
    }

    @Test(.needsLabcard) func aCardIsCapturedByItsName() throws {
        let receiver = try Receiver()
        receiver.folder.write(Recording(channels: [Tone.samples(seconds: 10)]).wav(), to: "in.wav")
        let speaker = try Program("aplay", ["-q", "-D", "labcard:captured", "in.wav"], in: receiver.folder)
        let sent = try tenfour(["send", "-D", "labcard:captured", receiver.uri, "-d", "2"])
        #expect(sent.end == .code(0), "\(sent.errors)")
        let tone = try receiver.tone()
        #expect(abs(tone.frequency - Tone.telling) < 1 && tone.duration > 1, "\(tone), \(speaker.errors)")
    }
}
