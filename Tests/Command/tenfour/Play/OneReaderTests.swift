import Foundation
import TenfourAudioCore
import TenfourMediaSource
import TenfourPlayer
import TestSupport
import Testing

/// `play`, `plot`, `send` and the library hear the same of a file.
@Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct OneReaderTests {
    private let folder = Folder()

    private func ffmpeg(_ arguments: [String]) throws {
        let made = try Program.run("ffmpeg", ["-v", "error", "-y"] + arguments, for: .seconds(60))
        try #require(made.end == .code(0), "\(made.errors)")
    }

    private func tone(_ name: String, _ options: String = "", hertz: Int = 440, rate: Int = 44_100) throws {
        let source = "aevalsrc=exprs='0.3*sin(2*PI*\(hertz)*t)':s=\(rate):d=3"
        let words = options.split(separator: " ").map(String.init)
        try ffmpeg(["-f", "lavfi", "-i", source] + words + [folder(name)])
    }

    private func played(_ name: String, _ options: [String] = []) throws -> (Double, Program.End, String) {
        let run = try tenfour(["play", name, "-o", "heard.wav", "-q"] + options, in: folder)
        return (try Recording(wav: folder("heard.wav")).seconds, run.end, run.errors)
    }

    private func plotted(_ name: String) throws -> (Double, isExact: Bool, Program.End) {
        let run = try tenfour(["plot", name, "--json"], in: folder)
        let parsed = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
        let json = try #require(parsed, "\(run.errors)")
        return (try #require(json["duration_s"] as? Double), try #require(json["exact"] as? Bool), run.end)
    }

    /// Returns the duration of the audio that `send` reads, as fast as it can be read.
    private func sent(_ name: String) throws -> Double {
        var configuration = StreamerConfiguration()
        (configuration.gain, configuration.output, configuration.channelCount) = (.none, .source, 1)
        let streamer = try Streamer(configuration)
        defer { streamer.close() }
        streamer.open(folder(name))
        streamer.play()
        let source = try #require(streamer.source)
        var samples = [Float](repeating: 0, count: 480)
        // While it waits for audio the source is silent, which does not count as played.
        while !streamer.state.isOver {
            var room = samples.mutableSpan
            if source.read(into: &room) == .zero { break }
        }
        return streamer.progress.played / .seconds(1)
    }

    private func check(_ name: String, ends end: Program.End = .code(0)) throws {
        let (heard, playEnd, errors) = try played(name)
        let (drawn, isExact, plotEnd) = try plotted(name)
        #expect(playEnd == end && plotEnd == end, "\(name): \(errors)")
        #expect(errors.isEmpty == (end == .code(0)) && !errors.contains("Note:"), "\(name): \(errors)")
        #expect(abs(heard - drawn) < 0.02, "\(name): \(heard) s played, \(drawn) s drawn")
        let read = try sent(name)
        #expect(abs(heard - read) < 0.02, "\(name): \(heard) s played, \(read) s sent")
        #expect(isExact == (end == .code(0)), "\(name)")
    }

    @Test(arguments: [
        "a.mp3", "b.mp3 -q:a 4", "c.mp3 -q:a 4 -write_xing 0 -id3v2_version 0", "d.mp3 -b:a 24k -ar 22050", "a.aac",
        "a.m4a", "a.flac", "a.ogg -c:a libvorbis", "a.opus -c:a libopus", "b.opus -c:a libopus -ac 6 -b:a 256k",
        "a.wav",
        "b.wav -c:a pcm_s24le", "c.wav -c:a pcm_mulaw", "d.wav -c:a adpcm_ms", "e.wav -c:a pcm_f32le", "a.aiff",
        "a.caf",
        "a.au", "a.w64", "a.ac3", "a.eac3", "a.dts -c:a dca -strict -2", "a.wma -c:a wmav2", "a.wv", "a.tta",
        "a.mka -c:a ac3", "a.mkv -c:a libopus", "a.webm -c:a libvorbis", "a.ts -c:a aac", "a.avi -c:a mp3",
        "a.flv -c:a mp3", "a.mpg -c:a mp2 -f mpeg", "a.mp2", "a.mov -c:a pcm_s16be",
    ])
    func theLengthIsTheSameEverywhere(_ options: String) throws {
        let (name, rest) = (options.prefix { $0 != " " }, options.drop { $0 != " " })
        try tone(String(name), String(rest))
        try check(String(name))
    }

    /// Half of a file, and one with a part that is overwritten.
    @Test(arguments: ["a.mp3", "a.aac", "a.ogg", "a.opus", "a.flac", "a.wav", "a.ac3", "a.wv"])
    func theLengthOfADamagedFileIsTheSameEverywhere(_ name: String) throws {
        // With several pages, so that a half has some of them.
        try tone(name, name == "a.ogg" ? "-c:a libvorbis -page_duration 200000" : "")
        let bytes = Folder.bytes(of: folder(name))
        folder.write(Array(bytes.prefix(bytes.count / 2)), to: name)
        // Some do not state their length.
        try check(name, ends: ["a.aac", "a.ac3", "a.ogg", "a.opus"].contains(name) ? .code(0) : .code(1))
        let middle = bytes.count / 2
        folder.write(
            Array(bytes[..<middle]) + [UInt8](repeating: 0x55, count: 500) + bytes[(middle + 500)...], to: name)
        let (heard, _, _) = try played(name)
        let (drawn, _, _) = try plotted(name)
        let read = try sent(name)
        #expect(abs(heard - drawn) < 0.02 && abs(heard - read) < 0.02, "\(heard), \(drawn), \(read)")
    }

    @Test func aFileWithoutAudioIsRefused() throws {
        try tone("a.opus")
        var bytes = Folder.bytes(of: folder("a.opus"))
        // The first pages hold the headers.
        for index in 800..<bytes.count { bytes[index] = 0x55 }
        folder.write(bytes, to: "damaged.opus")
        for arguments in [["play", "damaged.opus", "-o", "heard.wav"], ["plot", "damaged.opus"]] {
            let run = try tenfour(arguments, in: folder)
            #expect(run.end == .code(69) && run.errors.contains("contains no audio"), "\(arguments): \(run)")
        }
    }

    @Test func joinedFilesAndWAVWithoutSizesAreHeardWhole() throws {
        try tone("a.mp3")
        try tone("b.mp3", "-ar 24000", hertz: 880)
        folder.write(Folder.bytes(of: folder("a.mp3")) + Folder.bytes(of: folder("b.mp3")), to: "joined.mp3")
        try check("joined.mp3")
        #expect(abs(try plotted("joined.mp3").0 - 6) < 0.2)
        try tone("a.wav")
        var bytes = Folder.bytes(of: folder("a.wav"))
        let data = try #require(bytes.firstRange(of: Array("data".utf8))).upperBound
        for index in [4, 5, 6, 7, data, data + 1, data + 2, data + 3] { bytes[index] = 0 }
        folder.write(bytes, to: "sizes.wav")
        try check("sizes.wav")
        #expect(abs(try plotted("sizes.wav").0 - 3) < 0.01)
    }

    /// Nobody can decode the second half of the file.
    @Test func whatCannotBeDecodedIsNamedByEachCommand() throws {
        try tone("a.m4a", "-c:a aac")
        try tone("b.m4a", "-c:a aac -ac 1 -ar 22050", hertz: 880)
        folder.write("file a.m4a\nfile b.m4a\n", to: "list.txt")
        try ffmpeg(["-f", "concat", "-i", folder("list.txt"), "-c", "copy", folder("both.m4b")])
        try check("both.m4b", ends: .code(1))
        let run = try tenfour(["plot", "both.m4b"], in: folder)
        #expect(run.errors.contains(" are missing, since the file is damaged") && run.output.contains("dB"), "\(run)")
    }

    /// A recording of 6 GB whose size was never filled in. The file is sparse.
    @Test func aRecordingOfMoreThanFourGigabytesIsReadToItsEnd() throws {
        var header = Array(Recording(channels: [[0], [0]]).wav().prefix(44))
        for index in [4, 5, 6, 7, 40, 41, 42, 43] { header[index] = 0xFF }
        folder.write(header, to: "long.wav")
        let file = unsafe open(folder("long.wav"), O_WRONLY)
        defer { close(file) }
        let tone = Recording(channels: [Tone.samples(440, seconds: 5), Tone.samples(440, seconds: 5)]).samples(
            .signed16)
        let written = unsafe tone.withUnsafeBytes {
            unsafe pwrite(file, $0.baseAddress, $0.count, 44 + 192_000 * 30_600)
        }
        #expect(written == tone.count && ftruncate(file, 6_000_000_044) == 0)
        let run = try tenfour(["play", "long.wav", "--seek", "8:30:00", "-d", "2", "-o", "heard.wav"], in: folder)
        #expect(run.end == .code(0), "\(run.errors)")
        let heard = try Recording(wav: folder("heard.wav"))
        #expect(abs(heard.seconds - 2) < 0.001 && Tone(near: 440, in: heard.channels[0]) != nil)
        let late = try tenfour(["play", "long.wav", "--seek", "9:00:00", "-o", "heard.wav"], in: folder)
        #expect(
            late.end == .code(69) && late.errors.contains("after 9:00:00, since it ends at 8:40:50"), "\(late.errors)")
    }

    @Test func positionsAreNamedAsTheyAre() throws {
        try tone("a.wav")
        for (position, text) in [("0.7", "0:00.7"), ("1", "0:01"), ("1.25", "0:01.25"), ("2.04", "0:02.04")] {
            let run = try tenfour(["plot", "a.wav", "--position", position, "--size", "60x6"], in: folder)
            #expect(
                run.end == .code(0) && run.output.contains("▲ \(text)") || run.output.contains("\(text) ▲"), "\(run)")
        }
        let late = try tenfour(["plot", "a.wav", "--position", "3.5"], in: folder)
        #expect(
            late.end == .code(69) && late.errors.contains("ends at 0:03, before --position 0:03.5"), "\(late.errors)")
        let start = try tenfour(["plot", "a.wav", "--start", "3.5"], in: folder)
        #expect(
            start.end == .code(69) && start.errors.contains("after 0:03.5") && start.errors.contains("0:03:"),
            "\(start)")
    }

    @Test func aQueueWithAMissingItemEndsAsInMpv() throws {
        try tone("a.wav")
        folder.write("a.wav\nnone.wav\na.wav\n", to: "list.m3u")
        for arguments in [["list.m3u"], ["a.wav", "none.wav"], ["none.wav", "a.wav"]] {
            let run = try tenfour(["play"] + arguments + ["-o", "heard.wav"], in: folder)
            #expect(run.end == .code(3) && run.errors.contains("skipped none.wav"), "\(run)")
        }
        let none = try tenfour(["play", "none.wav", "nothing.wav", "-o", "heard.wav"], in: folder)
        #expect(none.end == .code(69), "\(none)")
    }

    /// 0xE9 is an é in Latin-1, and no UTF-8.
    @Test func aNameThatIsNoUTF8Opens() throws {
        try tone("a.flac")
        let name = String(pathBytes: Array("latin".utf8) + [0xE9] + Array(".flac".utf8))
        let path = folder(name)
        let renamed = unsafe folder("a.flac").withPath { old in unsafe path.withPath { new in unsafe rename(old, new) }
        }
        #expect(renamed == 0)
        defer { _ = unsafe path.withPath { unsafe unlink($0) } }
        folder.write(Array("latin".utf8) + [0xE9] + Array(".flac\n".utf8), to: "list.m3u")
        // A shell makes the bytes of the argument, since the text of a test's argument is UTF-8.
        for command in [
            // Before there is another sound in the folder.
            "play . -o heard.wav", "play latin\\351.flac -o heard.wav", "play list.m3u -o heard.wav",
            "plot latin\\351.flac", "plot list.m3u",
        ] {
            let line = "cd '\(folder.path)' && exec '\(try Program.path(of: "tenfour"))' $(printf '\(command)')"
            let run = try Program.run("bash", ["-c", line])
            #expect(run.end == .code(0) && !run.errors.contains("no file"), "\(command): \(run)")
        }
        let line = "exec \(try Program.path(of: "tenfour")) play $(printf 'no\\351ne.flac')"
        let missing = try Program.run("bash", ["-c", line])
        #expect(missing.end == .code(69) && missing.errors.contains("no file no\u{FFFD}ne.flac"), "\(missing)")
    }

    @Test func playlistsOfOtherProgramsArePlayed() throws {
        try tone("My Song.wav")
        folder.write("#EXTM3U\n#EXTINF:2,one\nMy%20Song.wav\n", to: "vlc.m3u")
        folder.write("[playlist]\r\nNumberOfEntries = 1\r\nFile1 = My Song.wav\r\n", to: "spaces.pls")
        let track = "<track><location>My%20Song.wav</location></track>"
        folder.write("<?xml version=\"1.0\"?><playlist><trackList>\(track)</trackList></playlist>", to: "list.xspf")
        folder.write("<rss><item><enclosure url='My%20Song.wav'/></item></rss>", to: "feed.rss")
        for name in ["vlc.m3u", "spaces.pls", "list.xspf", "feed.rss"] {
            let (seconds, end, errors) = try played(name)
            #expect(end == .code(0) && abs(seconds - 3) < 0.01, "\(name): \(errors)")
        }
    }

    @Test func aCertificateOfOnesOwnIsTrusted() throws {
        try tone("a.wav")
        let certificate = try Certificate(for: "DNS:localhost", in: folder)
        let server = try SoundServer(folder, certificate: certificate.file, key: certificate.key)
        let address = server.address("a.wav", host: "localhost")
        let play = ["play", address, "-o", folder("heard.wav")]
        let refused = try tenfour(play)
        #expect(refused.end == .code(69) && refused.errors.contains("--ca-file"), "\(refused)")
        #expect(try tenfour(play + ["--ca-file", certificate.file]).end == .code(0))
        #expect(try tenfour(play, environment: ["SSL_CERT_FILE": certificate.file]).end == .code(0))
        #expect(try tenfour(["plot", address, "--ca-file", certificate.file]).end == .code(0))
        #expect(try tenfour(play + ["--ca-file", folder("none.pem")]).end == .code(69))
    }

    @Test func anotherTrackIsChosenAndListed() throws {
        try tone("low.wav")
        try tone("high.wav", hertz: 880)
        try ffmpeg(
            [
                "-i", folder("low.wav"), "-i", folder("high.wav"), "-map", "0", "-map", "1", "-c:a", "libopus",
                "-disposition:a:0", "0", "-disposition:a:1", "default", "-metadata:s:a:0", "language=ger",
                folder("two.mka"),
            ])
        for (options, hertz) in [([], 880.0), (["--track", "1"], 440), (["--track", "de"], 440)] {
            let run = try tenfour(["play", "two.mka", "-v", "-o", "heard.wav"] + options, in: folder)
            #expect(run.end == .code(0), "\(run)")
            #expect(
                run.errors.contains("track 1: ger, opus") && run.errors.contains("track 2: opus, 1 channel, default"))
            #expect(Tone(near: hertz, in: try Recording(wav: folder("heard.wav")).channels[0]) != nil)
        }
        let none = try tenfour(["play", "two.mka", "--track", "7", "-o", "heard.wav"], in: folder)
        #expect(none.end == .code(69) && none.errors.contains("1 (ger), 2"), "\(none)")
        #expect(try tenfour(["play", "two.mka", "--track", "x", "-o", "heard.wav"], in: folder).end == .code(2))
    }
}
