import Foundation
import TestSupport
import Testing

/// The kinds of files that `tenfour play -o` writes.
@Suite(.onItsOwnThread) struct OutputFileTests {
    private let folder = Folder()

    private func play(_ arguments: [String]) throws -> (end: Program.End, output: String, errors: String) {
        try tenfour(["play"] + arguments, in: folder)
    }

    /// Makes a file of two seconds of noise by ffmpeg, with tags.
    private func make(_ name: String, channels: Int = 2, rate: Int = 44_100, _ options: [String]) throws {
        let noise = (0..<channels).map { "0.9*(random(\($0))-0.5)" }.joined(separator: "|")
        let tags = ["title=A tune", "artist=Someone", "album=Tunes"].flatMap { ["-metadata", $0] }
        let made = try Program.run(
            "ffmpeg",
            ["-v", "error", "-f", "lavfi", "-i", "aevalsrc='\(noise)':s=\(rate):d=2"] + tags + options + [name],
            in: folder)
        try #require(made.end == .code(0), "\(made.errors)")
    }

    /// Returns the fields of the first stream, and the tags.
    private func probe(_ name: String) throws -> [String: String] {
        let fields =
            "stream=codec_name,sample_rate,channels,bits_per_raw_sample,bits_per_sample:stream_tags:format_tags"
        let text = try Program.run(
            "ffprobe", ["-v", "error", "-show_entries", fields, "-of", "default=nw=1", name], in: folder
        ).output
        let pairs = text.split(separator: "\n").map { $0.split(separator: "=", maxSplits: 1).map(String.init) }
        return Dictionary(
            pairs.filter { $0.count == 2 }.map { ($0[0].lowercased(), $0[1]) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns a checksum of all samples, at 32 bits or as doubles.
    private func checksum(_ name: String, asFloats: Bool = false) throws -> String {
        let codec = asFloats ? "pcm_f64le" : "pcm_s32le"
        let result = try Program.run(
            "ffmpeg", ["-v", "error", "-i", name, "-c:a", codec, "-f", "md5", "-"], in: folder)
        try #require(result.end == .code(0) && result.output.hasPrefix("MD5="), "\(result.errors)")
        return result.output
    }

    /// The samples of a lossless source stay what they are.
    @Test(arguments: [
        ("a.flac", ["-sample_fmt", "s32"], "b.flac", "24"), ("a.flac", ["-sample_fmt", "s32"], "b.wav", "24"),
        ("a.flac", ["-sample_fmt", "s16"], "b.flac", "16"), ("a.wav", ["-c:a", "pcm_s24le"], "b.flac", "24"),
        ("a.wav", ["-c:a", "pcm_u8"], "b.wav", "8"), ("a.wav", ["-c:a", "pcm_f32le"], "b.wav", "32"),
        ("a.m4a", ["-c:a", "alac", "-sample_fmt", "s32p"], "b.flac", "24"),
    ])
    func keepingTheFormatKeepsEverySample(source: String, options: [String], file: String, bits: String) throws {
        try make(source, options)
        let result = try play([source, "-o", file, "--keep-format"])
        #expect(result.end == .code(0), "\(result.errors)")
        let fields = try probe(file)
        #expect(fields["sample_rate"] == "44100" && fields["channels"] == "2")
        #expect(fields["bits_per_raw_sample"] == bits || fields["bits_per_sample"] == bits, "\(fields)")
        let isFloat = fields["codec_name"] == "pcm_f32le"
        #expect(isFloat == options.contains("pcm_f32le"))
        #expect(try checksum(file, asFloats: isFloat) == checksum(source, asFloats: isFloat))
    }

    @Test(arguments: ["b.flac", "b.wav"]) func sixChannelsAndTheirRateAreKept(file: String) throws {
        try make("a.flac", channels: 6, rate: 96_000, ["-sample_fmt", "s32"])
        #expect(try play(["a.flac", "-o", file, "--keep-format"]).end == .code(0))
        let fields = try probe(file)
        #expect(fields["channels"] == "6" && fields["sample_rate"] == "96000")
        #expect(try checksum(file) == checksum("a.flac"))
        #expect(try play(["a.flac", "-o", "down.flac"]).end == .code(0))
        #expect(try probe("down.flac")["channels"] == "2")
    }

    @Test func rawSamplesHaveTheWidthToo() throws {
        try make("a.wav", ["-c:a", "pcm_s24le"])
        let program = try Program(
            "bash", ["-c", "exec \"$0\" play a.wav -o - --keep-format -v >b.raw", Program.path(of: "tenfour")],
            in: folder)
        #expect(program.wait() == .code(0), "\(program.errors)")
        #expect(program.errors.contains("writing standard output (S24_3LE, 44100 Hz, 2 channels)"))
        let whole = Folder.bytes(of: folder("a.wav"))
        let raw = Folder.bytes(of: folder("b.raw"))
        #expect(raw.count == 2 * 44_100 * 6 && whole.suffix(raw.count).elementsEqual(raw))
    }

    /// The file has the length of the source to the frame, begins with its first frame, and says so in its headers.
    @Test(arguments: ["b.opus", "b.ogg"]) func oggOpusIsAsLongAsItsSource(file: String) throws {
        let made = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*t*(300+400*t))':s=48000:d=2.0123",
                "-metadata", "title=A tune", "-metadata", "artist=Someone", "a.flac",
            ], in: folder)
        try #require(made.end == .code(0), "\(made.errors)")
        let written = try play(["a.flac", "-o", file])
        #expect(written.end == .code(0), "\(written.errors)")
        let info = try Program.run("opusinfo", [file], in: folder)
        #expect(info.end == .code(0) && !info.output.contains("WARNING"), "\(info.output)")
        for line in ["TITLE=A tune", "ARTIST=Someone", "Pre-skip: 312", "Channels: 1", "Playback length: 0m:02.012s"] {
            #expect(info.output.contains(line), "\(line): \(info.output)")
        }
        for name in ["a.flac", file] {
            _ = try Program.run("ffmpeg", ["-v", "error", "-i", name, "\(name).wav"], in: folder)
        }
        let (source, decoded) = (
            try Recording(wav: folder("a.flac.wav")).channels[0], try Recording(wav: folder("\(file).wav")).channels[0]
        )
        #expect(decoded.count == source.count, "\(decoded.count) frames, and the source has \(source.count)")
        let error = zip(source, decoded).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) } / Float(source.count)
        #expect(error < 0.001, "\(error)")
    }

    @Test func tagsAreThoseOfTheOnlyItem() throws {
        try make("a.flac", [])
        for name in ["b.flac", "b.opus"] {
            #expect(try play(["a.flac", "-o", name]).end == .code(0))
            let fields = try probe(name)
            #expect(
                fields["tag:title"] == "A tune" && fields["tag:artist"] == "Someone" && fields["tag:album"] == "Tunes")
        }
        #expect(try play(["a.flac", "a.flac", "-o", "c.flac"]).end == .code(0))
        #expect(try probe("c.flac")["tag:title"] == nil)
    }

    /// A file that was there stays if nothing can be read, and no new one is left behind.
    @Test(arguments: ["wav", "flac", "opus"]) func theFileOfBeforeIsNotLost(kind: String) throws {
        folder.write("not to be lost", to: "old.\(kind)")
        for input in ["nothing.flac", "https://127.0.0.1:1/a.mp3"] {
            for name in ["old", "new"] { #expect(try play([input, "-o", "\(name).\(kind)"]).end == .code(69)) }
        }
        #expect(Folder.text(of: folder("old.\(kind)")) == "not to be lost")
        #expect(Folder.bytes(of: folder("new.\(kind)")).isEmpty)
    }

    @Test(arguments: ["wav", "flac", "opus"]) func aFullDiskAndAMissingFolderAreTold(kind: String) throws {
        try make("a.wav", [])
        let link = try Program.run("ln", ["-s", "/dev/full", "full.\(kind)"], in: folder)
        try #require(link.end == .code(0))
        for (name, sentence) in [("full", "the disk is full"), ("no/folder", "its directory does not exist")] {
            let result = try play(["a.wav", "-o", "\(name).\(kind)"])
            #expect(result.end != .code(0) && result.errors.contains(sentence), "\(result)")
            #expect(result.errors.split(separator: "\n").count { $0.contains(name) } == 1, "\(result.errors)")
            #expect(result.output == "", "libraries print nothing")
        }
    }

    @Test func contradictoryOptionsAreRefused() throws {
        try make("a.wav", [])
        try #require(Program.run("ln", ["-s", "a.wav", "link.wav"], in: folder).end == .code(0))
        for (arguments, code, words) in [
            (["-o", "b.mp3"], 69, ".wav, .flac or .opus"), (["--keep-format"], 2, "add -o FILE"),
            (["-o", "b.wav", "--keep-format", "-c", "1"], 2, "leave out --sample-rate, --channels and --format"),
            (["-o", "b.opus", "--sample-rate", "44100"], 2, "48000"),
            (["-o", "b.wav", "--sleep", "1m"], 2, "--duration"), (["--sleep", "0"], 2, "--sleep is too short"),
            (["-o", "b.wav", "--fade-out", "2m"], 2, "60s or less"),
            (["-o", "a.wav"], 2, "a.wav is the input and would be overwritten"),
            (["-o", "./link.wav"], 2, "would be overwritten"),
        ] as [([String], Int32, String)] {
            let result = try play(["a.wav"] + arguments)
            #expect(result.end == .code(code) && result.errors.contains(words), "\(arguments): \(result.errors)")
        }
    }

    /// Pauses are left out of a file, too, and the end tells how much.
    @Test func pausesAreLeftOut() throws {
        let made = try Program.run(
            "ffmpeg",
            [
                "-v", "error", "-f", "lavfi", "-i", "aevalsrc='0.5*sin(2*PI*300*t)*lt(mod(t,5),2)':s=48000:d=20",
                "talk.wav",
            ], in: folder)
        try #require(made.end == .code(0), "\(made.errors)")
        let result = try play(["talk.wav", "-o", "b.wav", "--skip-silence"])
        #expect(result.end == .code(0) && result.errors.contains("left out 00:11 of silence"), "\(result.errors)")
        let seconds = try Recording(wav: folder("b.wav")).seconds
        #expect(abs(seconds - 8.8) < 0.15, "\(seconds)")
        let faster = try play(["talk.wav", "-o", "c.wav", "--skip-silence", "--rate", "1.5"])
        #expect(faster.end == .code(0))
        let short = try Recording(wav: folder("c.wav")).seconds
        #expect(abs(short - 8.8 / 1.5) < 0.2, "\(short)")
    }
}
