import TestSupport
import Testing

/// A wrong command line, its exit code and the texts that the error must contain.
struct Misuse: CustomTestStringConvertible {
    var arguments: [String]
    var code: Int32
    /// The error and the remedy.
    var words: [String]

    init(_ arguments: String, _ code: Int32, _ words: String...) {
        // A tilde stands for a space within an argument.
        self.arguments = arguments.split(separator: " ").map { String($0.replacing("~", with: " ")) }
        self.code = code
        self.words = words
    }

    var testDescription: String { arguments.joined(separator: " ") }
}

@Suite(.onItsOwnThread) struct WrongUseTests {
    private let folder = Folder()

    init() {
        folder.write("Only words, and no sound at all, however long one listens.\n", to: "words.wav")
        folder.write([], to: "empty.wav")
        folder.write(Array(Recording(channels: [Tone.samples(seconds: 0.1)]).wav()[..<30]), to: "header.wav")
        folder.write(Recording(channels: [Tone.samples(seconds: 0.1)]).wav(), to: "good.wav")
        folder.write("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 nonsense here\r\n", to: "bad.sdp")
        folder.write("v=0\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n", to: "video.sdp")
        folder.write("v=0\nc=IN IP4 127.0.0.1\nm=audio 5004 RTP/AVP 9\na=rtpmap:9 G722/8000\n", to: "g722.sdp")
        folder.write("v=0\nc=IN IP4 127.0.0.1\nm=audio 9 UDP/TLS/RTP/SAVPF 0\n", to: "webrtc.sdp")
        let key = "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:QUJD|1:4\n"
        folder.write("v=0\nc=IN IP4 127.0.0.1\nm=audio 5004 RTP/SAVP 0\n" + key, to: "mki.sdp")
        folder.write("<html>", to: "page.sdp")
    }

    /// Each error is one sentence that names the remedy. Nothing is written to standard output, and the exit code is
    /// right.
    @Test(arguments: [
        Misuse("talk --oepn bob", 2, "unknown option '--oepn': did you mean '--open'? (see 'tenfour talk --help')"),
        Misuse("recv -D nosuch", 69, "no sound card named 'nosuch'", "`tenfour devices`"),
        Misuse("send -D nosuch rtp://127.0.0.1:5004", 69, "no sound card named 'nosuch'", "`tenfour devices`"),
        Misuse("send --input words.wav rtp://127.0.0.1", 69, "words.wav", "not a known audio format", "-f S16_LE"),
        Misuse("send --input header.wav rtp://127.0.0.1", 69, "header.wav"),
        Misuse("send --input empty.wav rtp://127.0.0.1", 69, "empty.wav: this is empty"),
        Misuse("send --input missing.wav rtp://127.0.0.1", 69, "no file missing.wav", "spelling"),
        Misuse("send --input alsa:nosuch rtp://127.0.0.1", 69, "'nosuch'", "`tenfour devices`"),
        Misuse("send --input good.wav rtp://no-such-host.invalid", 69, "no-such-host.invalid", "spelling"),
        Misuse(
            "send --input good.wav --sdp no/such/folder.sdp rtp://127.0.0.1", 69, "no/such/folder.sdp", "another path"),
        Misuse("talk no-such-host.invalid", 69, "no-such-host.invalid", "spelling"),
        Misuse("recv -p 5994 -o no/such/folder.wav", 69, "no/such/folder.wav", "create the directory"),
        Misuse("recv rtp://192.0.2.1 -o x.wav", 69, "192.0.2.1 is not an address of this machine", "`ip address`"),
        Misuse("recv rtp://@239.1.2.3 --interface nosuch -o x.wav", 69, "nosuch", "this machine has", "lo"),
        Misuse("recv missing.sdp", 69, "missing.sdp", "name another SDP file"),
        Misuse("recv bad.sdp", 69, "bad.sdp", "line 4"),
        Misuse("recv video.sdp", 69, "video.sdp", "no audio", "only video"),
        Misuse("recv g722.sdp", 69, "offers G722/8000", "neither Opus nor G.711", "ask for one of these"),
        Misuse("recv webrtc.sdp", 69, "webrtc.sdp", "DTLS-SRTP", "ask the sender for plain RTP"),
        Misuse("recv mki.sdp", 69, "mki.sdp", "MKI", "ask the sender for a key without it"),
        Misuse("recv page.sdp", 69, "page.sdp", "line 1"),

        Misuse("send --input good.wav http://127.0.0.1", 2, "http://", "write rtp://HOST:PORT"),
        Misuse("send --input good.wav rtp://", 2, "the address to send to is missing", "rtp://HOST:PORT"),
        Misuse("send --input good.wav rtp://:5004", 2, "the address to send to is missing", "rtp://HOST:PORT"),
        Misuse("send --input good.wav rtp://127.0.0.1:99999", 2, "'99999'", "1 to 65535"),
        Misuse("send --input good.wav rtp://127.0.0.1:0", 2, "'0'", "1 to 65535"),
        Misuse("send --input good.wav rtp://127.0.0.1:x", 2, "'x'", "1 to 65535"),
        Misuse("send --input good.wav rtp://[::1", 2, "bracket", "rtp://[2001:db8::7]:5004"),
        Misuse("send --input good.wav rtp://[::1]5004", 2, "bracket", "rtp://[2001:db8::7]:5004"),
        Misuse("send --input good.wav rtp://a~b", 2, "rtp://a b", "rtp://HOST:PORT"),
        Misuse("send --input good.wav rtp://host/path", 2, "rtp://host/path", "rtp://HOST:PORT"),
        Misuse("send --input good.wav --codec mp3 rtp://127.0.0.1", 2, "mp3", "pcmu"),
        Misuse(
            "send --input good.wav --codec pcmu -b 32k rtp://127.0.0.1", 2, "--bitrate is only for Opus",
            "leave --bitrate out"),
        Misuse(
            "send --input good.wav --codec pcma --music rtp://127.0.0.1", 2, "--music is only for Opus",
            "leave --music out"),
        Misuse(
            "send --input good.wav --codec pcma --fec on rtp://127.0.0.1", 2, "--fec on is only for Opus",
            "leave --fec on out"),
        Misuse(
            "talk 127.0.0.1 --codec pcmu --expect-loss 5", 2, "--expect-loss is only for Opus",
            "leave --expect-loss out"),
        Misuse("send --input good.wav --codec pcmu -c 2 rtp://127.0.0.1", 2, "is mono", "leave out --channels 2"),
        Misuse("talk 127.0.0.1 --codec pcma --profile music", 2, "is mono", "--profile music"),
        Misuse(
            "send --input good.wav --codec pcmu --defence copy rtp://127.0.0.1", 2, "cannot carry copies",
            "--defence nack"),
        Misuse("talk rtp://@239.1.2.3", 2, "one other station", "use send and recv"),
        Misuse("talk rtp://:5004", 2, "the station to talk with is missing", "bob.local"),
        Misuse("nonsense", 2, "no command 'tenfour nonsense'", "tenfour --help"),
        Misuse("lisen tenfour://host/family", 2, "no command 'tenfour lisen'", "write tenfour listen; "),
        Misuse("tlak bob", 2, "write tenfour talk; "),
        Misuse("sned --input good.wav", 2, "write tenfour send; "),
        Misuse("relais", 2, "write tenfour relay; "),
        Misuse("rtp://127.0.0.1", 2, "'rtp://127.0.0.1' is an address", "before it", "tenfour --help"),
        Misuse("channel nwe family", 2, "no command 'tenfour channel nwe'", "write tenfour channel new; "),
        Misuse("channel family", 2, "no command 'tenfour channel family'", "tenfour channel --help"),

        Misuse("talk bob -p 0", 2, "--port 0 is not a port", "1 to 65535"),
        Misuse("recv -p 0", 2, "--port 0 is not a port", "1 to 65535"),
        Misuse("listen tenfour://host/family -p 0", 2, "--port 0 is not a port", "1 to 65535"),
        Misuse("recv --jitter 6s", 2, "--jitter 6000 ms is too long", "at most 5000 ms"),
        Misuse("recv --max-latency 6s", 2, "--max-latency 6000 ms is too long", "at most 5000 ms"),

        Misuse("replay capture.pcap", 2, "'replay' is a separate tool", "Tools/replay"),
        Misuse("radiocheck", 2, "'radiocheck' is a separate tool", "Tools/radiocheck"),
        Misuse("recv 5004", 2, "'5004' is a port", "write tenfour recv -p 5004"),
        Misuse("talk --pair bob.local", 2, "talk --pair has become a command", "tenfour pair"),
        Misuse("talk 5004", 2, "'5004' is a port", "write HOST:5004"),
        Misuse("send --input good.wav 5004", 2, "'5004' is a port", "write HOST:5004"),
        Misuse("recv good.wav", 2, "'good.wav' is a file", "tenfour play good.wav", "recv -o good.wav"),
        Misuse("recv heard.flac", 2, "'heard.flac' is a file", "tenfour play heard.flac"),
        Misuse("talk good.wav", 2, "'good.wav' is a file"),
        Misuse("talk", 2, "there is no keyboard to answer calls with", "--auto-answer"),
        Misuse("pair", 2, "tenfour pair needs a terminal"),
        Misuse("pair bob.local acorn badger", 2, "the other station shows three words, and 2 were typed"),
        Misuse("pair acorn acorn akorn", 2, "word 3, 'akorn', is not a word for pairing"),
        Misuse("pair 482913 acorn badger cabin", 2, "'482913' is the number of a station", "add --relay HOST"),
        Misuse("pair --relay radio.example.org bob.local", 2, "with --relay no station is named"),
        Misuse("pair --relay radio.example.org 48291 acorn badger cabin", 2, "6 digits, and this one has 5"),
        Misuse("pair --relay radio.example.org 048291 acorn badger cabin", 2, "no number begins with 0"),
        Misuse(
            "pair --relay radio.example.org 482913 acorn badger", 2,
            "behind the number come three words, and 2 were typed"),
        Misuse("pair --relay tenfour://h/c", 2, "'tenfour://h/c' is not a relay's address"),
        Misuse("talk --auto-answer --input -", 2, "write the station to talk with"),
        Misuse("talk --auto-answer -o heard.wav", 2, "--output heard.wav would be written anew", "--record"),
        Misuse("talk --auto-answer -o -", 2, "--output - would be written anew", "--record"),
        Misuse("talk --auto-answer --report call.json", 2, "--report call.json would be written anew", "--record"),

        Misuse("recv -o - --report -", 2, "both write to standard output", "name a file"),
        Misuse("talk 127.0.0.1 -o - --report -", 2, "both write to standard output", "name a file"),
    ])
    func misuseGetsAClearError(misuse: Misuse) throws {
        let result = try tenfour(misuse.arguments, in: folder)
        #expect(result.end == .code(misuse.code), "\(result.errors)")
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("tenfour: ") && result.errors.hasSuffix("\n"))
        #expect(result.errors.dropLast().contains("\n") == false, "\(result.errors)")
        for word in misuse.words { #expect(result.errors.contains(word), "\(result.errors)") }
    }

    /// The name of each program in Tools gets that answer.
    @Test func eachToolIsKnown() throws {
        let files = try Program.run("find", [Repository.path("Tools"), "-maxdepth", "1", "-type", "f", "-executable"])
        let tools = files.output.split(separator: "\n").compactMap { $0.split(separator: "/").last }
        #expect(tools.contains("labcard") && tools.contains("test"))
        for tool in tools {
            let errors = try tenfour([String(tool)]).errors
            #expect(errors.contains("'\(tool)' is a separate tool"), "\(errors)")
        }
    }

    /// The same for wrong options; the error also names the command that shows the help.
    @Test(arguments: [
        Misuse("send", 2, "<address>"),
        Misuse("talk bob --auto-answer", 2, "--auto-answer is for a station that waits for calls"),
        Misuse("talk bob --hidden", 2, "--hidden is for a station that waits for calls"),
        Misuse("talk bob --notify", 2, "--notify is for a station that waits for calls"),
        Misuse("send --nonsense rtp://127.0.0.1", 2, "'--nonsense'"),
        Misuse("send -b 1000k rtp://127.0.0.1", 2, "'1000k'", "6k to 510k"),
        Misuse("send -b", 2, "-b <rate>", "6k to 510k"),
        Misuse("send --frame 7ms rtp://127.0.0.1", 2, "--frame 7 ms", "write 2.5ms, 5ms, 10ms, 20ms, 40ms or 60ms"),
        Misuse("send --expect-loss 101 rtp://127.0.0.1", 2, "--expect-loss 101", "0 to 100"),
        Misuse("send --payload-type 12 rtp://127.0.0.1", 2, "--payload-type 12", "96 to 127"),
        Misuse("send -c 3 rtp://127.0.0.1", 2, "--channels 3", "1 or 2"),
        Misuse("send -r 5 rtp://127.0.0.1", 2, "--rate 5", "1000 to 768000"),
        Misuse("send -f S17_LE rtp://127.0.0.1", 2, "'S17_LE'", "S16_LE"),
        Misuse("send --profile nonsense rtp://127.0.0.1", 2, "'nonsense'", "lan"),
        Misuse("send --defence maybe rtp://127.0.0.1", 2, "'maybe'", "nack"),
        Misuse("recv --jitter never", 2, "'never'", "auto"),
        Misuse("recv --jitter 8s", 2, "--jitter 8000 ms", "at most 5000 ms"),
        Misuse("recv --max-latency 6s", 2, "--max-latency 6000 ms", "at most 5000 ms"),
        Misuse("send -b 510k --frame 60ms rtp://127.0.0.1", 2, "60 ms at 510kbit/s", "shorter --frame"),
        Misuse("recv -p 80000", 2, "'80000'", "1 to 65535"),
        Misuse("talk bob -p 80000", 2, "'80000'", "1 to 65535"),
        Misuse("send -b 800 rtp://127.0.0.1", 2, "'800'", "6k to 510k"),
        Misuse("send -b 5999 rtp://127.0.0.1", 2, "'5999'", "above 1000 in bit/s"),
        Misuse("recv -d never", 2, "'never'", "5m or 1h30m", "seconds"),
        Misuse("recv -d 5x", 2, "'5x'"),
        Misuse("recv -d 30m1h", 2, "'30m1h'"),
        Misuse("send good.wav", 2, "'good.wav' is a file", "write rtp://HOST:PORT after it"),
        Misuse("send --input good.wav good.wav rtp://127.0.0.1", 2, "--input and", "write only one of them"),
        Misuse("recv --period-time 1us", 2, "1ms to 100ms"),
        Misuse("recv rtp://:5004 more", 2, "'more'"),
    ])
    func wrongOptionsGetAClearError(misuse: Misuse) throws {
        let result = try tenfour(misuse.arguments, in: folder)
        #expect(result.end == .code(misuse.code), "\(result.errors)")
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("tenfour: ") && result.errors.split(separator: "\n").count == 1)
        let command = misuse.arguments[0]
        #expect(result.errors.hasSuffix("; see 'tenfour \(command) --help'\n"), "\(result.errors)")
        for word in misuse.words { #expect(result.errors.contains(word), "\(result.errors)") }
    }

    /// Accepts durations in minutes and hours, a bit rate in bit/s, and the input before the address.
    @Test func unambiguousAbbreviationsAreAccepted() throws {
        for duration in ["0.2s", "0.003m", "0.0001h", "0m0.2s"] {
            let received = try tenfour(["recv", "-p", "\(UDPPort.free())", "-o", "x.wav", "-d", duration], in: folder)
            #expect(received.end == .code(0), "\(received.errors)")
        }
        let (port, sender) = (UDPPort.free(), ["send", "good.wav", "-b", "32000"])
        let sent = try tenfour(sender + ["rtp://127.0.0.1:\(port)"], in: folder)
        #expect(sent.errors.contains("sending to rtp://127.0.0.1:\(port)"), "\(sent.errors)")
        #expect(sent.errors.contains("packets in 0."), "\(sent.errors)")
        let start = try tenfour(["play", "good.wav", "--seek", "1m", "-o", "y.wav"], in: folder)
        #expect(start.errors.contains("no audio after 1:00"), "\(start.errors)")
    }

    @Test func aVariableThatSetsNothingIsReportedUnlessWeAreQuiet() throws {
        let environment = ["TENFOUR_BITRAET": "24k", "TENFOUR_FRAME": "10ms", "TENFOUR_NONSENSE": "1"]
        let arguments = ["recv", "-p", "\(UDPPort.free())", "-o", "x.wav", "-d", "0.1"]
        let loud = try tenfour(arguments, in: folder, environment: environment)
        #expect(loud.end == .code(0))
        #expect(
            loud.errors.contains(
                "tenfour: TENFOUR_BITRAET in the environment has no effect: did you mean TENFOUR_BITRATE?"))
        #expect(loud.errors.contains("tenfour: TENFOUR_NONSENSE in the environment has no effect"), "\(loud.errors)")
        #expect(!loud.errors.contains("TENFOUR_FRAME"))
        #expect(try tenfour(arguments + ["-q"], in: folder, environment: environment).errors == "")
    }

    @Test(.needsLabcard) func aCardThatIsTakenIsReported() throws {
        let (port, card) = (UDPPort.free(), "labcard:taken")
        let first = try Program("tenfour", ["recv", "-p", "\(port)", "-D", card], in: folder)
        try #require(first.says("receiving"), "\(first.errors)")
        let second = try tenfour(["recv", "-p", "\(port + 2)", "-D", card], in: folder)
        #expect(second.end == .code(69), "\(second.errors)")
        #expect(second.errors.contains(card) && second.errors.split(separator: "\n").count == 1, "\(second.errors)")
    }

    /// If the command fails to start, no recording is created and an existing one is not emptied.
    @Test func aRecordingIsNotEmptiedForNothing() throws {
        let before = Folder.bytes(of: folder("good.wav"))
        _ = try tenfour(["recv", "-D", "nosuch", "-o", "good.wav"], in: folder)
        #expect(Folder.bytes(of: folder("good.wav")) == before)
    }

    /// A combination of options that is refused leaves the SDP file as it was.
    @Test func anSDPFileIsNotOverwrittenForNothing() throws {
        folder.write("kept", to: "kept.sdp")
        let arguments = "send --input good.wav --codec pcmu -c 2 --sdp kept.sdp rtp://127.0.0.1"
        #expect(try tenfour(arguments.split(separator: " ").map(String.init), in: folder).end == .code(2))
        #expect(Folder.bytes(of: folder("kept.sdp")) == Array("kept".utf8))
    }
}
