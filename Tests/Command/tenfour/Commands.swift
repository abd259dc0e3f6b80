import Glibc
import TestSupport
import Testing

/// Whether packages of this machine make a sound server ALSA's default device, as on most desktops.
let soundServerIsDefault = ["99-pipewire-default.conf", "99-pulseaudio-default.conf", "99-pulse.conf"]
    .contains { unsafe access("/etc/alsa/conf.d/\($0)", F_OK) == 0 }

/// A tone of a minute, long enough for tests that end the program themselves, also on a slow machine.
let longTone = Recording(channels: [Tone.samples(seconds: 60)]).wav()

/// Runs `tenfour` to its end.
func tenfour(
    _ arguments: [String], in folder: Folder? = nil, environment: [String: String] = [:]
) throws -> (end: Program.End, output: String, errors: String) {
    try Program.run("tenfour", arguments, in: folder, environment: environment)
}

/// A receiver that records into `heard.wav` until its source has left.
struct Receiver {
    let folder = Folder()
    let port = UDPPort.free()
    private let program: Program

    init(_ options: [String] = ["--jitter", "300ms"]) throws {
        let arguments = ["recv", "-p", "\(port)", "-o", "heard.wav", "--oneshot"] + options
        program = try Program("tenfour", arguments, in: folder)
        try #require(program.takes(port: port), "\(program.errors)")
    }

    var uri: String { "rtp://127.0.0.1:\(port)" }

    /// Waits for the end of the receiver and returns the tone in its recording.
    func tone(near frequency: Double = Tone.telling, _ location: SourceLocation = #_sourceLocation) throws -> Tone {
        #expect(program.wait() == .code(0), "\(program.errors)", sourceLocation: location)
        let recording = try Recording(wav: folder("heard.wav"))
        let tone = Tone(near: frequency, in: recording.channels[0], rate: recording.rate)
        return try #require(tone, "no tone in \(recording.seconds) s; \(program.errors)", sourceLocation: location)
    }
}

/// Expects a complete tone: its frequency, its duration, and no holes or seams.
func expectWhole(_ tone: Tone, seconds: Double, _ location: SourceLocation = #_sourceLocation) {
    #expect(abs(tone.frequency - Tone.telling) < 1, "\(tone)", sourceLocation: location)
    #expect(abs(tone.duration - seconds) < 0.1, "\(tone)", sourceLocation: location)
    #expect(tone.holes == [] && tone.seams == [], "\(tone)", sourceLocation: location)
}
