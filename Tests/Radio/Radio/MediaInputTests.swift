import Glibc
import TenfourAudioCore
import TestSupport
import Testing

@testable import TenfourRadio

/// Files that a session reads itself.
@Suite(.onItsOwnThread) struct MediaInputTests {
    private let folder = Folder()

    /// Writes a second of a tone in `channelCount` channels, and returns the number of frames that are read of `name`.
    private func read(_ name: String, channelCount: Int, options: [String] = []) throws -> (LPCMFormat, Int) {
        folder.write(
            Recording(channels: [[Float]](repeating: Tone.samples(seconds: 1), count: channelCount)).wav(),
            to: "tone.wav")
        if name != "tone.wav" {
            let coder = try Program.run("ffmpeg", ["-v", "error", "-i", folder("tone.wav")] + options + [folder(name)])
            try #require(coder.end == .code(0), "\(coder.errors)")
        }
        let input = try #require(try MediaInput(path: folder(name)))
        var samples = [Float](repeating: 0, count: 960 * input.format.channelCount)
        var count = 0
        while true {
            var room = samples.mutableSpan
            let read = try input.read(into: &room)
            if read == .zero { return (input.format, count) }
            count += read.rawValue
        }
    }

    @Test func aFileOfOneOrTwoChannelsKeepsThem() throws {
        for channelCount in [1, 2] {
            let (format, count) = try read("tone.wav", channelCount: channelCount)
            #expect(format.channelCount == channelCount && format.rate.hertz == 48_000 && count == 48_000)
        }
    }

    #if FFmpeg
        @Test(arguments: ["a.flac", "a.m4a", "a.mp3", "a.mka"]) func aFileThatFFmpegDecodesIsRead(name: String) throws {
            let (format, count) = try read(name, channelCount: 1)
            #expect(format.channelCount == 1 && format.rate.hertz == 48_000)
            #expect(abs(count - 48_000) <= 960, "\(count) frames")
        }

        @Test func moreChannelsAreMixedToTwo() throws {
            let (format, count) = try read("a.flac", channelCount: 6, options: ["-channel_layout", "5.1"])
            #expect(format.channelCount == 2 && count == 48_000)
        }
    #endif

    @Test func aPipeAndAMissingFileAreLeftToOthers() throws {
        #expect(mkfifo(folder("pipe")) == 0)
        for name in [folder("pipe"), folder("none.wav"), "-"] { #expect(try MediaInput(path: name) == nil) }
    }

    @Test func aFileWithoutAudioIsRefusedByItsName() throws {
        folder.write("These words are no audio.\n", to: "words.mp3")
        #expect(try MediaInput(path: folder("words.mp3")) == nil)
        var configuration = try RadioConfiguration.sending(to: StreamAddress(parsing: "rtp://127.0.0.1:9"))
        configuration.input = .file(folder("words.mp3"), raw: nil)
        let error = #expect(throws: RadioError.self) { try RadioSession(configuration) }
        #expect(error?.kind == .unavailable && error?.description.contains("words.mp3") == true, "\(error as Any)")
    }

    private func mkfifo(_ path: String) -> Int32 { unsafe Glibc.mkfifo(path, 0o600) }
}
