import TenfourAudioCore
import TenfourOpusCodec
import TenfourSeededRandom
import TestSupport
import Testing

@testable import TenfourTransmissions

/// Recordings in other programs: opusinfo, ffprobe, ffmpeg, mpv.
@Suite(.onItsOwnThread) struct PlayersTests {
    /// A recording of a tone of five seconds with a loss of 200 ms after two seconds.
    private func recording() throws -> RecorderScene {
        let scene = try RecorderScene()
        var alice = SimulatedSpeaker(1)
        for (index, payload) in try CodedTone.packets(seconds: 5).enumerated() {
            let sent = alice.next(payload)
            if !(100..<110).contains(index) { scene.receive(sent.payload, sent.packet) }
            scene.pass(.milliseconds(20))
        }
        scene.finish()
        try #require(scene.names.count == 1)
        return scene
    }

    /// Decodes files one after the other and returns the number of frames and the messages.
    private func decode(_ names: [String], in folder: Folder) throws -> (frameCount: Int, errors: String) {
        let inputs = names.flatMap { ["-i", $0] }
        let filter = ["-filter_complex", "concat=n=\(names.count):v=0:a=1"]
        let result = try Program.run(
            "ffmpeg",
            ["-nostdin", "-y", "-v", "warning"] + inputs + filter + ["-f", "s16le", "-ac", "1", "heard.raw"],
            in: folder)
        #expect(result.end == .code(0), "\(result.errors)")
        return (Folder.bytes(of: folder("heard.raw")).count / 2, result.errors)
    }

    @Test func aRecordingIsRightForOtherPrograms() throws {
        let scene = try recording()
        let name = scene.names[0]
        let info = try Program.run("opusinfo", [name], in: scene.folder)
        #expect(info.end == .code(0) && !info.output.contains("WARNING") && info.errors == "", "\(info)")
        for line in ["TALKER=alice", "CHANNEL=family", "LOSS=4.00 %", "SCORE=", "Playback length: 0m:04.993s"] {
            #expect(info.output.contains(line), "\(line) in \(info.output)")
        }
        let probe = try Program.run(
            "ffprobe", ["-v", "warning", "-show_streams", "-show_format", name], in: scene.folder)
        #expect(probe.end == .code(0) && probe.errors == "", "\(probe.errors)")
        #expect(probe.output.contains("codec_name=opus") && probe.output.contains("TAG:TALKER=alice"))
        let mpv = try Program.run(
            "mpv", ["--no-config", "--ao=null", "--ao-null-untimed", "--no-terminal", "--msg-level=all=warn", name],
            in: scene.folder)
        #expect(mpv.end == .code(0) && mpv.output == "" && mpv.errors == "", "\(mpv)")
    }

    /// Players keep time across a loss: what comes after it is where it was. FFmpeg's own decoder is silent in the gap,
    /// libopus conceals it.
    @Test(arguments: ["opus", "libopus"]) func playersKeepTimeInAGap(decoder: String) throws {
        let scene = try recording()
        let result = try Program.run(
            "ffmpeg",
            [
                "-nostdin", "-v", "warning", "-c:a", decoder, "-i", scene.names[0], "-f", "f32le", "-ac", "1",
                "heard.raw",
            ], in: scene.folder)
        #expect(result.end == .code(0) && result.errors == "", "\(result.errors)")
        let bytes = Folder.bytes(of: scene.folder("heard.raw"))
        let heard = unsafe bytes.withUnsafeBytes { bytes in
            (0..<bytes.count / 4).map { unsafe bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Float.self) }
        }
        #expect(abs(heard.count - (240_000 - 312)) <= 1, "\(heard.count)")
        // The tone after the gap has the phase that it would have without the gap.
        let tone = Tone.samples(seconds: 5)
        var (product, power) = (Float(0), Float(0))
        for index in 115_200..<235_000 {
            product += heard[index] * tone[index]
            power += tone[index] * tone[index]
        }
        #expect(product / power > 0.9, "\(product / power)")
    }

    /// Cut off at any byte, a file plays to its last whole page.
    @Test func aFileCutOffAnywherePlaysToThere() throws {
        let scene = try recording()
        let whole = Folder.bytes(of: scene.folder(scene.names[0]))
        let pages = OggFile(whole).pages
        var random = SeededRandom(seed: 18)
        let folder = Folder()
        var silent = 0
        for batch in 0..<10 {
            var (names, expected) = ([String](), 0)
            for index in 0..<100 {
                let count = random.below(whole.count)
                let name = "\(batch)-\(index).opus"
                let audible = pages.last { $0.end <= count && $0.granule > 0 }.map { $0.granule - 312 } ?? 0
                guard audible > 0 else {
                    silent += 1
                    continue
                }
                folder.write(Array(whole[..<count]), to: name)
                names.append(name)
                expected += audible
            }
            let info = try Program.run("opusinfo", names, in: folder)
            #expect(info.output.split(separator: "\n").count { $0.contains("Playback length") } == names.count)
            let heard = try decode(names, in: folder)
            #expect(abs(heard.frameCount - expected) <= names.count, "\(heard.frameCount) of \(expected)")
            #expect(heard.errors == "")
        }
        // The headers and the first page are a small part of the file.
        #expect(silent < 120, "\(silent)")
    }

    /// The same while the recorder is writing, before the end and its tags are known.
    @Test func aRecordingThatWasNotEndedPlaysToItsLastPage() throws {
        let scene = try RecorderScene()
        var alice = SimulatedSpeaker(1)
        for payload in try CodedTone.packets(seconds: 5) {
            let sent = alice.next(payload)
            scene.receive(sent.payload, sent.packet)
            scene.pass(.milliseconds(20))
        }
        let granule = try #require(scene.file(scene.names[0]).pages.last).granule
        // A second waits for retransmissions, and a page is not complete.
        #expect(granule >= 240_000 - 48_000 - 2 * 11 * 960, "\(granule)")
        let heard = try decode(scene.names, in: scene.folder)
        #expect(abs(heard.frameCount - (granule - 312)) <= 1 && heard.errors == "", "\(heard)")
        #expect(try scene.log().first?.isComplete == false)
    }
}
