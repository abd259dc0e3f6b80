import TestSupport
import Testing

/// The expected tone in a program's recording.
struct Heard {
    /// The frequency in hertz, and the channel of the recording that has the tone.
    var frequency = Tone.telling
    var channel = 0
    /// RMS level in dBFS.
    var level = -9.03
    /// The minimum duration in seconds.
    var duration = 3.9
}

/// Expects the tone in a WAV file: its frequency within 1 Hz, its level, its duration, and no holes or seams.
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

/// A tone of four seconds as a WAV file. It is made before a player starts, since some players do not wait long.
let toneFile = Recording(channels: [Tone.samples()]).wav()

/// Runs `tenfour send` with `tone.wav` to its end.
func sendTone(
    to uri: String, _ options: [String], in folder: Folder, _ location: SourceLocation = #_sourceLocation
) throws {
    let sent = try Program.run("tenfour", ["send", "--input", "tone.wav", uri] + options, in: folder)
    #expect(sent.end == .code(0), "\(sent.errors)", sourceLocation: location)
}

/// Writes the SDP file of a stream before the stream exists, as a user does who sends the file to others.
func describe(_ uri: String, _ options: [String], in folder: Folder) throws {
    folder.write(Recording(channels: [Tone.samples(seconds: 0.05)]).wav(), to: "short.wav")
    try Program.run("tenfour", ["send", "--input", "short.wav", uri, "--sdp", "live.sdp"] + options, in: folder)
}

/// Waits for a player to end by itself after our BYE, and otherwise interrupts it as Ctrl-C does.
func end(_ player: Program, _ location: SourceLocation = #_sourceLocation) {
    player.wait(.seconds(4)) { !player.isRunning }
    player.send(2)
    #expect(player.wait(.seconds(20)) != .killed, "\(player.name) hangs: \(player.errors)", sourceLocation: location)
}
