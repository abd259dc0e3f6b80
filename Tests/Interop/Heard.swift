import TestSupport
import Testing

/// The tone that a program must have received.
struct Heard {
    /// In hertz; in one channel of the recording.
    var frequency = Tone.telling
    var channel = 0
    /// RMS level in dBFS.
    var level = -9.03
    /// The minimum duration in seconds.
    var duration = 3.9
}

/// Expects the tone in a WAV file: its pitch within a hertz, its level, its length, and nothing missing.
func expect(_ heard: Heard = Heard(), inFile path: String, _ location: SourceLocation = #_sourceLocation) throws {
    let recording = try Recording(wav: path)
    try #require(heard.channel < recording.channels.count, sourceLocation: location)
    let found = Tone(near: heard.frequency, in: recording.channels[heard.channel], rate: recording.rate)
    let tone = try #require(found, "no tone in \(recording.seconds) s", sourceLocation: location)
    #expect(abs(tone.frequency - heard.frequency) < 1, "\(tone)", sourceLocation: location)
    #expect(abs(tone.level - heard.level) < 1, "\(tone)", sourceLocation: location)
    #expect(tone.duration > heard.duration, "\(tone)", sourceLocation: location)
    #expect(tone.holes == [] && tone.seams == [], "\(tone)", sourceLocation: location)
}

/// A program and its arguments.
struct Command {
    var name: String
    var arguments: [String]

    init(_ name: String, _ arguments: [String]) {
        self.name = name
        self.arguments = arguments
    }

    /// Splits a GStreamer pipeline at spaces.
    init(_ name: String, words: String) {
        self.init(name, words.split(separator: " ").map(String.init))
    }

    func start(in folder: Folder) throws -> Program { try Program(name, arguments, in: folder) }

    func run(in folder: Folder) throws -> (end: Program.End, output: String, errors: String) {
        try Program.run(name, arguments, in: folder)
    }
}

/// A tone of four seconds, as a WAV file. Made before a player waits, since some do not wait long.
let toneFile = Recording(channels: [Tone.samples()]).wav()

/// `tenfour send` of `tone.wav`, to its end.
func sendTone(
    to uri: String, _ options: [String], in folder: Folder, _ location: SourceLocation = #_sourceLocation
) throws {
    let sent = try Program.run("tenfour", ["send", "--input", "tone.wav", uri] + options, in: folder)
    #expect(sent.end == .code(0), "\(sent.errors)", sourceLocation: location)
}

/// Writes the SDP of a stream before there is any, as a person does who hands it round.
func describe(_ uri: String, _ options: [String], in folder: Folder) throws {
    folder.write(Recording(channels: [Tone.samples(seconds: 0.05)]).wav(), to: "short.wav")
    try Program.run("tenfour", ["send", "--input", "short.wav", uri, "--sdp", "live.sdp"] + options, in: folder)
}

/// Lets a player end by itself, as our good-bye tells it to, or else as Ctrl-C does.
func end(_ player: Program, _ location: SourceLocation = #_sourceLocation) {
    player.wait(.seconds(4)) { !player.isRunning }
    player.send(2)
    #expect(player.wait(.seconds(20)) != .killed, "\(player.name) hangs: \(player.errors)", sourceLocation: location)
}
