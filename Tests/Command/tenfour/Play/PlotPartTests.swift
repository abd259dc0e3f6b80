import Foundation
import TestSupport
import Testing

/// A part of a recording, and its channels, in `tenfour plot`.
@Suite(.onItsOwnThread) struct PlotPartTests {
    private let folder = Folder()

    /// One second of a sweep at 48 kHz: the left channel, and the right one 6 dB below it and louder towards the end.
    init() throws {
        let left = (0..<48_000).map { 0.5 * Float(sin(Double($0) * Double($0) * 1e-5)) }
        let right = left.enumerated().map { $1 * 0.5 * Float($0) / 48_000 }
        folder.write(Recording(channels: [left, right]).wav(), to: "a.wav")
    }

    private func plot(_ arguments: [String]) throws -> (end: Program.End, output: String, errors: String) {
        try tenfour(["plot"] + arguments, in: folder)
    }

    private func json(_ arguments: [String]) throws -> [String: Any] {
        let result = try plot(arguments + ["--json"])
        try #require(result.end == .code(0) && result.errors == "", "\(result.errors)")
        return try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    }

    private func convert(_ name: String, to new: String, _ options: [String] = []) throws {
        let made = try Program.run("ffmpeg", ["-v", "error", "-i", name] + options + [new], in: folder)
        try #require(made.end == .code(0), "\(made.errors)")
    }

    /// With one bar per frame, the bars of a part are those of the whole file from its first frame to its last one.
    @Test(arguments: ["wav", "flac", "mp3", "ogg", "opus", "m4a"]) func aPartHasExactlyItsFrames(kind: String) throws {
        if kind != "wav" { try convert("a.wav", to: "a.\(kind)") }
        let whole = try json(["a.\(kind)", "--bars", "65536"])
        let part = try json(["a.\(kind)", "--bars", "65536", "--start", "0:00.25", "-d", "0.5"])
        #expect(part["frames"] as? Int == 24_000 && part["start_s"] as? Double == 0.25)
        let levels = try #require(whole["peak_db"] as? [Double])
        #expect(part["peak_db"] as? [Double] == Array(levels[12_000..<36_000]))
    }

    @Test func aPartEndsWithTheFile() throws {
        let part = try json(["a.wav", "--start", "0.75", "--duration", "1m", "--bars", "3"])
        #expect(part["frames"] as? Int == 12_000 && part["exact"] as? Bool == true)
        let result = try plot(["a.wav", "--start", "1:02"])
        #expect(result.end == .code(69))
        #expect(
            result.errors
                == "tenfour: a.wav contains no audio after 1:02, where --start begins, since it ends at 0:01: start earlier\n"
        )
    }

    @Test func theAxesAndTheMarkAreThoseOfTheFile() throws {
        let long = [Float](repeating: 0.1, count: 8_000 * 100)
        folder.write(Recording(rate: 8_000, channels: [long]).wav(), to: "long.wav")
        let text = try plot(["long.wav", "--start", "1:00", "--duration", "30s", "--position", "1:15"]).output
        #expect(text.hasPrefix("long.wav · from 1:00 · 30.0 s · "), "\(text)")
        for mark in ["╵1:00", "╵1:20", "▲ 1:15"] { #expect(text.contains(mark), "\(text)") }
        #expect(!text.contains("╵0:00"))
        #expect(!(try plot(["long.wav", "--start", "1:20", "--position", "1:15"]).output.contains("▲")))
    }

    /// Each row is the picture of its channel alone.
    @Test func channelsApartAreThoseOfMonoFiles() throws {
        let apart = try json(["a.wav", "--channels", "--bars", "20"])
        let rows = try #require(apart["rows"] as? [[String: Any]])
        #expect(apart["peak_db"] == nil && rows.map { $0["channel"] as? String } == ["left", "right"])
        for (index, row) in rows.enumerated() {
            try convert("a.wav", to: "\(index).wav", ["-af", "pan=mono|c0=c\(index)"])
            let mono = try json(["\(index).wav", "--bars", "20"])
            for name in ["average_db", "peak_db"] {
                let levels = try #require(row[name] as? [Double])
                #expect(zip(levels, try #require(mono[name] as? [Double])).allSatisfy { abs($0 - $1) < 0.02 })
            }
        }
        let text = try plot(["a.wav", "--channels"]).output.split(separator: "\n")
        #expect(text.contains("left") && text.contains("right") && text.count <= 23)
        #expect(text.filter { $0.contains("╵") }.count == 1, "one time axis")
        for (name, size) in [("a.png", []), ("b.png", ["--size", "400x120"])] {
            #expect(try plot(["a.wav", "--channels", "-o", name] + size).end == .code(0))
            #expect(Folder.bytes(of: folder(name)).count > 1_000)
        }
        let six = [Float](repeating: 0.1, count: 1_000)
        folder.write(Recording(channels: Array(repeating: six, count: 6)).wav(), to: "six.wav")
        #expect(try plot(["six.wav", "--channels"]).output.contains("channel 6\n"))
    }

    /// The top of the scale is the loudest bar of all channels as they are drawn.
    @Test func theLoudestBarHasTheFullHeight() throws {
        #expect(try json(["a.wav"])["top_db"] as? Double == 0)
        let normalized = try json(["a.wav", "--normalize", "--channels", "--bars", "10"])
        #expect(normalized["top_db"] as? Double == -6.02)
        let average = try #require(try json(["a.wav", "--normalize", "--average"])["top_db"] as? Double)
        #expect(average < -6.1)
        let plain = try plot(["a.wav", "--floor", "-20"]).output.split(separator: "\n")
        let scaled = try plot(["a.wav", "--floor", "-20", "--normalize"]).output.split(separator: "\n")
        #expect(!plain[1].contains { $0 > "\u{2800}" && $0 <= "\u{28FF}" }, "\(plain[1])")
        #expect(scaled[1].hasPrefix(" −6.0 ") && scaled[1].contains { $0 > "\u{2800}" && $0 <= "\u{28FF}" })
        folder.write(Recording(channels: [[Float](repeating: 0, count: 100)]).wav(), to: "silent.wav")
        #expect(try plot(["silent.wav", "--normalize"]).end == .code(0))
    }

    /// `--channels COUNT` of raw samples, as other commands take it, is `-c COUNT`.
    @Test func theChannelsOfRawSamplesAreACount() throws {
        folder.write(Recording(channels: [[0.5, 0.5], [0.1, 0.1]]).samples(), to: "a.raw")
        let raw = ["a.raw", "-f", "S16_LE", "-r", "8000"]
        for count in [["-c", "2"], ["--channels", "2"], ["--channels=2"], ["--raw-channels", "2"]] {
            let plain = try json(raw + count)
            #expect(plain["channels"] as? Int == 2 && plain["rows"] == nil, "\(count)")
        }
        let apart = try json(raw + ["-c", "2", "--channels"])
        #expect((apart["rows"] as? [Any])?.count == 2)
        #expect(try json(raw)["channels"] as? Int == 1)
        #expect(try plot(raw + ["--channels", "9"]).errors.contains("write 1 to 8"))
        let set = try tenfour(["plot", "--json"] + raw, in: folder, environment: ["TENFOUR_CHANNELS": "2"])
        #expect(set.output.contains("\"channels\": 2"), "\(set.errors)")
    }
}
