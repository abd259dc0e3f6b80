import Glibc
import TestSupport
import Testing

@Suite(.onItsOwnThread, .inRealTime) struct OptionsTests {
    @Test func theListOfCommandsFitsOnAScreen() throws {
        let help = try tenfour(["--help"]).output
        #expect(help.contains("  doctor ") && help.split(separator: "\n", omittingEmptySubsequences: false).count <= 25)
    }

    private let folder = Folder()

    @Test(arguments: ["talk", "send", "recv", "play", "devices"])
    func everyCommandHelps(command: String) throws {
        let help = try tenfour([command, "--help-all"])
        #expect(help.end == .code(0) && help.errors == "")
        #expect(help.output.contains("USAGE: tenfour \(command)"))
        #expect(help.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
    }

    @Test func theCommandTellsWhatThereIsAndItsVersion() throws {
        let help = try tenfour(["--help-all"])
        #expect(help.end == .code(0))
        for word in ["talk", "send", "recv", "play", "devices", "Exit codes", "TENFOUR_BITRATE"] {
            #expect(help.output.contains(word))
        }
        #expect(try tenfour(["--version"]).output.hasPrefix("tenfour "))
    }

    /// Returns the bit rate of the audio in kbit/s, which does not depend on how long a busy machine took to send it.
    private func rate(_ options: [String], _ environment: [String: String] = [:]) throws -> Double {
        folder.write(Recording(channels: [Tone.samples(seconds: 2)]).wav(), to: "tone.wav")
        let listener = PlainSocket()
        let arguments = ["send", "-v", "--input", "tone.wav", "rtp://127.0.0.1:\(listener.port)"] + options
        let sent = try tenfour(arguments, in: folder, environment: environment)
        #expect(sent.end == .code(0), "\(sent.errors)")
        let pattern = /sent +([0-9]+) packets in ([0-9.]+) s, ([0-9.]+) kbit/
        let report = try #require(sent.errors.firstMatch(of: pattern)?.output)
        let seconds = try #require(Double(report.1)) * 0.02
        return try #require(Double(report.2)) * #require(Double(report.3)) / seconds
    }

    @Test func anOptionFromTheEnvironmentCountsAndATypedOneWins() throws {
        let (usual, lower) = (try rate([]), try rate([], ["TENFOUR_BITRATE": "24k"]))
        #expect(usual > 28 && usual < 36 && lower > 20 && lower < 28, "\(usual), \(lower)")
        #expect(try rate(["-b", "64k"], ["TENFOUR_BITRATE": "24k"]) > 36)
        #expect(try rate(["--music", "-b", "64k"], ["TENFOUR_SPEECH": "1"]) > 36)
        #expect(try rate([], ["TENFOUR_CODEC": "pcma"]) > 60)
        #expect(try rate(["--codec", "pcmu"], ["TENFOUR_BITRATE": "24k", "TENFOUR_MUSIC": "1"]) > 60)
    }

    @Test func aTypedHostOrPortWins() throws {
        let port = UDPPort.free()
        let heard = try tenfour(
            ["recv", "rtp://127.0.0.1:\(port)", "-o", "x.wav", "-d", "0.3"], in: folder,
            environment: ["TENFOUR_PORT": "\(port + 2)"])
        #expect(heard.errors.contains("receiving on 127.0.0.1:\(port)"), "\(heard.errors)")
        let sent = try tenfour(
            ["send", "-D", "alsa://nosuch", "rtp://127.0.0.1"], in: folder, environment: ["TENFOUR_INPUT": "tone.wav"])
        #expect(sent.end == .code(69) && sent.errors.contains("'nosuch'"), "\(sent.errors)")
    }

    @Test func aWrongOptionFromTheEnvironmentIsNamed() throws {
        let sent = try tenfour(["send", "rtp://127.0.0.1"], environment: ["TENFOUR_FRAME": "7ms"])
        #expect(sent.end == .code(2))
        #expect(sent.errors.contains("in the environment: TENFOUR_FRAME=7ms"))
    }

    @Test func whichClockIsBelievedCanBeSaid() throws {
        let link = "tenfour://127.0.0.1:\(UDPPort.free())/family#listen-aaaq-eaye-auda-ocaj-bifq-ydio-dcpa"
        for command in ["talk", "listen", "send"] {
            let wrong = try tenfour([command, link], environment: ["TENFOUR_CLOCK": "late"])
            #expect(wrong.end == .code(2), "\(wrong.errors)")
            #expect(
                wrong.errors.contains("'right' and 'unknown'") && wrong.errors.contains("TENFOUR_CLOCK=late"),
                "\(wrong.errors)")
        }
    }

    /// A receiver behind a NAT may have another address than the SDP states: packets that arrive are played.
    @Test(arguments: [("192.0.2.7", true), ("127.0.0.1", false), ("0.0.0.0", false)])
    func anSDPForAnotherMachineIsWarnedOf(address: String, isElsewhere: Bool) throws {
        let port = UDPPort.free()
        folder.write(
            "v=0\nc=IN IP4 \(address)\nm=audio \(port) RTP/AVP 111\na=rtpmap:111 opus/48000/2\n", to: "live.sdp")
        let result = try tenfour(["recv", "live.sdp", "-o", "x.wav", "-d", "0.3"], in: folder)
        #expect(result.end == .code(0) && result.errors.contains("receiving on port \(port)"), "\(result.errors)")
        let words = "tenfour: live.sdp names the receiver \(address), which is not an address of this machine"
        #expect(result.errors.contains(words) == isElsewhere, "\(result.errors)")
        #expect(try tenfour(["recv", "live.sdp", "-q", "-o", "x.wav", "-d", "0.1"], in: folder).errors == "")
    }

    @Test func itEndsAfterTheDurationGiven() throws {
        let start = ContinuousClock.now
        let result = try tenfour(["recv", "-p", "\(UDPPort.free())", "-o", "x.wav", "-d", "2"], in: folder)
        #expect(result.end == .code(0))
        #expect(ContinuousClock.now - start >= .seconds(2))
        #expect(result.output == "" && result.errors.contains("received nothing"), "\(result.errors)")
    }

    @Test func quietSaysNothing() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 0.2)]).wav(), to: "tone.wav")
        let listener = PlainSocket()
        let uri = "rtp://127.0.0.1:\(listener.port)"
        let result = try tenfour(["send", "-q", "--input", "tone.wav", uri], in: folder)
        #expect(result.end == .code(0) && result.output == "" && result.errors == "")
    }

    @Test func anSDPGoesToStandardOutputWhereAskedTo() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 0.2)]).wav(), to: "tone.wav")
        let listener = PlainSocket()
        let uri = "rtp://127.0.0.1:\(listener.port)"
        let result = try tenfour(["send", "--input", "tone.wav", uri, "--sdp", "-", "--name", "One\nTwo"], in: folder)
        #expect(result.end == .code(0))
        #expect(result.output.hasPrefix("v=0\r\n") && result.output.contains("opus/48000/2"))
        #expect(!result.output.contains("\nTwo"), "a name makes no line of its own")
    }

    /// 0xFC is an ü in Latin-1, and no UTF-8. A shell makes the bytes, since the text of a test's argument is UTF-8.
    @Test(arguments: [("J\\374rg", "J\u{FFFD}rg"), ("\\377\\376", "\u{FFFD}\u{FFFD}"), ("J\\303\\274rg", "Jürg")])
    func aNameIsSentAsUTF8(typed: String, sent: String) throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 0.2)]).wav(), to: "tone.wav")
        let listener = PlainSocket()
        let line =
            "cd '\(folder.path)' && exec '\(try Program.path(of: "tenfour"))' send --input tone.wav "
            + "--name \"$(printf '\(typed)')\" --sdp - rtp://127.0.0.1:\(listener.port)"
        let run = try Program.run("bash", ["-c", line])
        #expect(run.end == .code(0) && run.output.contains("\r\ns=\(sent)\r\n"), "\(run)")
        // The item NAME of a source description (RFC 3550 section 6.5.2).
        let item = [2, UInt8(sent.utf8.count)] + Array(sent.utf8)
        var hasName = false
        while let datagram = listener.receive(within: 0) { hasName = hasName || datagram.contains(item) }
        #expect(hasName)
    }

    /// Some plugins write to standard error directly, without alsa-lib's error handler.
    @Test(.needsLabcard) func pluginsThatTalkAreNotHeardInTheList() throws {
        let base = Program.environment("ALSA_CONFIG_PATH") ?? ""
        folder.write(
            """
            <\(base)>
            pcm.loud { type labcard wire loud says "jack server is not running" hint { show on description "Loud" } }
            pcm.gone { type pulse server "unix:/nowhere" hint { show on description "Gone" } }
            """, to: "asound.conf")
        let environment = ["ALSA_CONFIG_PATH": folder("asound.conf")]
        let result = try tenfour(["devices"], environment: environment)
        #expect(result.end == .code(0) && result.errors == "", "\(result.errors)")
        #expect(result.output.contains("loud\n    Loud\n    captures: 48000 Hz"))
        #expect(!result.output.contains("tenfour devices"), "the list is no remedy for what is in it")
        let verbose = try tenfour(["devices", "-v"], environment: environment)
        #expect(verbose.output.contains("loud\n    Loud\n") && verbose.errors.contains("jack server is not running"))
    }

    /// A minimal ALSA configuration, whose default device is the kernel's first card.
    @Test(
        .enabled(
            if: access("/proc/asound/cards", F_OK) != 0 && !soundServerIsDefault,
            "needs a machine without a sound card and without a sound server as the default"))
    func aMachineWithoutACardIsToldSo() throws {
        folder.write(
            """
            </usr/share/alsa/alsa.conf>
            pcm.!default { type hw card 0 }
            """, to: "asound.conf")
        let environment = ["ALSA_CONFIG_PATH": folder("asound.conf")]
        let sentence = "tenfour: this machine has no sound card: plug one in, or start a sound server"
        let devices = try tenfour(["devices"], environment: environment)
        #expect(devices.end == .code(0) && devices.errors.hasPrefix(sentence), "\(devices.errors)")
        for command in ["recv", "talk 127.0.0.1", "send rtp://127.0.0.1:5004"] {
            let arguments = command.split(separator: " ").map(String.init) + ["-p", "\(UDPPort.free())"]
            let result = try tenfour(arguments, environment: environment)
            #expect(result.end == .code(69) && result.errors.hasPrefix(sentence), "\(result.errors)")
        }
        let named = try tenfour(["recv", "-D", "hw:7"], environment: environment)
        #expect(named.errors.hasPrefix("tenfour: no sound card named 'hw:7': "), "\(named.errors)")
    }

    @Test(.needsLabcard) func theDevicesAreListedWithTheirRatesAndPeriods() throws {
        let result = try tenfour(["devices"])
        #expect(result.end == .code(0) && result.errors == "")
        let lines = result.output.split(separator: "\n")
        let card = try #require(lines.firstIndex(of: "lab_speaker"))
        #expect(lines[card + 2].hasPrefix("    captures: 48000 Hz, 1 to 2 channels, periods of "))
        #expect(lines[card + 3].hasPrefix("    plays:    48000 Hz, 1 to 2 channels, periods of "))
        #expect(lines[card + 3].contains(" frames, S16_LE"))
    }
}
