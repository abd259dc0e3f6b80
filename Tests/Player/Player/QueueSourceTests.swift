import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TenfourMediaSource
import TestSupport
import Testing

@testable import TenfourPlayer

/// Queues that come from folders and CUE sheets, written into a file and compared sample by sample.
@Suite(.onItsOwnThread) struct QueueSourceTests {
    private let folder = Folder()
    private let outside = Folder()

    /// Writes a file whose samples reveal their position in the second.
    private func write(_ name: String, seconds: Double) throws {
        var file = try AudioFileWriter(path: folder(name), format: .mono)
        let samples = (0..<Int(seconds * 48_000)).map { CodedMedia.value(at: $0, rate: 48_000) }
        try file.write(samples.span)
        try file.close()
    }

    private func play(_ address: String, _ events: inout [StreamEvent]) async throws -> [Float] {
        var configuration = StreamerConfiguration()
        configuration.output = .file(outside("out.wav"))
        configuration.channelCount = 1
        let streamer = try Streamer(configuration)
        let stream = streamer.events
        streamer.open(address)
        streamer.play()
        try streamer.wait()
        streamer.close()
        for await event in stream { events.append(event) }
        var reader = try AudioFileReader(path: outside("out.wav"))
        var samples: [Float] = []
        var chunk = [Float](repeating: 0, count: 4_800)
        while true {
            var room = chunk.mutableSpan
            let count = try reader.read(into: &room).rawValue
            guard count > 0 else { return samples }
            samples += chunk[..<count]
        }
    }

    private func titles(_ events: [StreamEvent]) -> [String] {
        events.compactMap { if case .title(let title) = $0 { title } else { nil } }
    }

    @Test func aFolderIsAQueueInNaturalOrder() async throws {
        for (name, seconds) in [("10.wav", 0.1), ("2.wav", 0.2), ("1.wav", 0.3)] { try write(name, seconds: seconds) }
        folder.write("no sound", to: "notes.txt")
        var events: [StreamEvent] = []
        let sound = try await play(folder.path, &events)
        #expect(sound.count == 28_800)
        for start in [14_400, 24_000] {
            #expect((0..<1_000).allSatisfy { abs(sound[start + $0] - CodedMedia.value(at: $0, rate: 48_000)) < 0.0002 })
        }
        #expect(events.contains { if case .item(2, _) = $0 { true } else { false } })
    }

    @Test func aFolderWithoutAudioSaysSo() async throws {
        folder.write("no sound", to: "notes.txt")
        var events: [StreamEvent] = []
        await #expect {
            _ = try await play(folder.path, &events)
        } throws: { "\($0)".contains("there is no audio in the folder") }
    }

    @Test func tracksOfASheetFollowEachOtherWithoutALostOrRepeatedSample() async throws {
        try write("album.wav", seconds: 2)
        folder.write(
            """
            FILE "album.wav" WAVE
            TRACK 01 AUDIO
            TITLE "One"
            INDEX 01 00:00:00
            TRACK 02 AUDIO
            TITLE "Two"
            INDEX 01 00:00:31
            TRACK 03 AUDIO
            TITLE "Three"
            INDEX 01 00:01:07
            """, to: "album.cue")
        for address in [folder("album.cue"), folder.path] {
            var events: [StreamEvent] = []
            let sound = try await play(address, &events)
            #expect(sound.count == 96_000)
            #expect((384..<96_000).allSatisfy { abs(sound[$0] - CodedMedia.value(at: $0, rate: 48_000)) < 0.0002 })
            #expect(titles(events) == ["One", "Two", "Three"])
        }
    }

    @Test func aSheetMayBeginInTheMidstOfItsFile() async throws {
        try write("album.wav", seconds: 2)
        folder.write(
            "FILE album.wav WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:15\nTRACK 2 DATA\nINDEX 1 0:1:30\n", to: "album.cue")
        var events: [StreamEvent] = []
        let sound = try await play(folder("album.cue"), &events)
        #expect(sound.count == 57_600)
        #expect((384..<57_600).allSatisfy { abs(sound[$0] - CodedMedia.value(at: $0 + 9_600, rate: 48_000)) < 0.0002 })
    }

    @Test func aSheetThatLeadsElsewhereIsRefusedWithASentence() async throws {
        folder.write("FILE \"/etc/passwd\" WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0\n", to: "album.cue")
        var events: [StreamEvent] = []
        await #expect {
            _ = try await play(folder("album.cue"), &events)
        } throws: { "\($0)".contains("leads to '/etc/passwd'") }
    }

    /// A list that leads to the output file is refused as a whole, before anything is written.
    @Test(arguments: ["album.cue", "list.m3u", "links.m3u", "."])
    func aListThatNamesTheOutputIsRefusedAndTheFileStays(name: String) throws {
        try write("0.wav", seconds: 0.1)
        try write("album.wav", seconds: 0.5)
        folder.write("FILE album.wav WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0\n", to: "album.cue")
        folder.write("0.wav\nalbum.wav\n", to: "list.m3u")
        folder.write("0.wav\nlink.wav\n", to: "links.m3u")
        #expect(unsafe symlink("album.wav", folder("link.wav")) == 0)
        let before = Folder.bytes(of: folder("album.wav"))
        var configuration = StreamerConfiguration()
        configuration.output = .file(folder("album.wav"))
        let streamer = try Streamer(configuration)
        streamer.open(folder(name))
        streamer.play()
        #expect { try streamer.wait() } throws: { "\($0)".contains("is the input and would be overwritten") }
        streamer.close()
        #expect(Folder.bytes(of: folder("album.wav")) == before)
    }

    @Test func aNewOutputFileIsLeftOutOfItsFolder() async throws {
        try write("1.wav", seconds: 0.1)
        var configuration = StreamerConfiguration()
        configuration.output = .file(folder("2.wav"))
        let streamer = try Streamer(configuration)
        streamer.open(folder.path)
        streamer.play()
        try streamer.wait()
        streamer.close()
        #expect(try AudioFileReader(path: folder("2.wav")).frameCount == FrameCount(4_800))
    }
}
