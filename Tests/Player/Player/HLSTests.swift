#if FFmpeg
    import TenfourAudioCore
    import TenfourMediaSource
    import TestSupport
    import Testing

    @testable import TenfourPlayer

    /// HLS recordings of a real packager, from a web server on this machine.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct HLSTests {
        private let packager = HLSPackager()
        private let server: SoundServer

        init() throws { server = try SoundServer(packager.folder) }

        /// A stretch of what was heard without a gap: the position of the reader, and the place in the recording.
        private struct Heard {
            var start: Double
            var end: Double
            /// The largest difference between position and place, in seconds.
            var error: Double
        }

        /// Reads to the end in pieces of 50 ms and compares the position with what is heard.
        private func listen(_ opened: OpenedHLS, delay: Double) throws -> [Heard] {
            let rate = opened.reader.format.rate.hertz
            var all: [Heard] = []
            while true {
                let before = opened.reader.position.value.inSeconds
                let piece = try opened.reader.readSome(rate / 10)
                guard !piece.isEmpty else { return all }
                let length = Double(piece.count / opened.reader.format.channelCount) / Double(rate)
                let after = opened.reader.position.value.inSeconds
                guard abs(after - before - length) < 0.001, length > 0.09,
                    let place = CodedAudio.seconds(
                        of: piece, channelCount: opened.reader.format.channelCount, rate: rate)
                else { continue }
                // Leaves out the decoder's start-up and what is left in it at the end.
                let error = before < 0.2 || before > 19.8 ? 0 : abs(place + delay - before)
                if let last = all.last, abs(last.end - before) < 0.001 {
                    all[all.count - 1].end = after
                    all[all.count - 1].error = max(last.error, error)
                } else {
                    all.append(Heard(start: before, end: after, error: error))
                }
            }
        }

        private func delay(_ kind: HLSPackager.Kind) -> Double { Double(kind.delay) / Double(kind.rate) }

        @Test(arguments: HLSPackager.kinds) func aRecordingIsPlayedAndSoughtExactly(kind: HLSPackager.Kind) throws {
            try packager.package(kind, vector: nil)
            let opened = try OpenedHLS(server.address("list.m3u8"))
            defer { opened.source.stop() }
            let reader = opened.reader
            #expect(reader.format == LPCMFormat(rate: SampleRate(hertz: 44_100), channelCount: 2))
            let length = try #require(reader.demuxer.duration)
            #expect(abs(length.value.inSeconds - 20) < (kind.pictures ? 0.5 : 0.15) && length.isExact, "\(length)")
            #expect(!opened.source.state.isLive)
            let whole = try reader.readAll()
            #expect(abs(Double(whole.count) / 88_200 - 20) < 0.15, "\(whole.count)")
            #expect(opened.source.state.phase == .ended)
            // No seam between segments: the whole equals what ffmpeg decodes.
            let expected = try decoded("list.m3u8")
            let front = (expected.count - whole.count) / 2
            #expect(abs(front) < 3_000, "\(front)")
            #expect(difference(whole, expected, within: 2_400) < 0.01)
            for second in [13.0, 2, 7.77, 19, 0.3, 5.999] {
                let landed = try reader.seek(to: .seconds(second))
                #expect(abs(landed.value.inSeconds - second) < 0.001, "\(landed) for \(second)")
                let piece = try reader.readSome(8_820)
                let place = try #require(CodedAudio.seconds(of: piece, channelCount: 2, rate: 44_100))
                #expect(abs(place + delay(kind) - second) < 0.020, "\(place) for \(second)")
                // The samples are those of continuous playback, but for the decoder's start.
                let from = 2 * Int(second * 44_100) + 4_096
                guard second < 19 else { continue }
                let same = difference(Array(piece[4_096...]), Array(whole[from..<from + 13_000]), within: 90)
                #expect(same < 0.02, "\(same) at \(second)")
            }
            _ = try reader.seek(to: .seconds(100))
            #expect(abs(reader.position.value.inSeconds - 20) < 0.15, "\(reader.position)")
            #expect(try reader.readAll().count < 8_820)
        }

        /// Returns the largest difference of the first channels of two signals of two channels, at the shift at which
        /// their middles differ least.
        private func difference(_ one: [Float], _ other: [Float], within limit: Int) -> Float {
            let end = min(one.count, other.count) / 2 - limit
            guard end - limit > 2_000 else { return .infinity }
            func worst(_ shift: Int, _ range: Range<Int>, upTo best: Float) -> Float {
                var worst = Float.zero
                for index in range {
                    worst = max(worst, abs(one[2 * index] - other[2 * (index + shift)]))
                    if worst > best { break }
                }
                return worst
            }
            let middle = end / 2..<end / 2 + 1_000
            var best = (shift: 0, worst: Float.infinity)
            for shift in -limit...limit {
                let found = worst(shift, middle, upTo: best.worst)
                if found < best.worst { best = (shift, found) }
            }
            return worst(best.shift, limit..<end, upTo: .infinity)
        }

        private func decoded(_ name: String) throws -> [Float] {
            let out = Folder()
            try packager.run([
                "-allowed_extensions", "ALL", "-i", packager.folder(name), "-vn", "-f", "f32le", "-ar", "44100", "-ac",
                "2", out("sound"),
            ])
            let bytes = Folder.bytes(of: out("sound"))
            return unsafe bytes.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
        }

        @Test func anInitializationVectorIsUsed() throws {
            try packager.package(
                HLSPackager.kinds.last!, vector: "00112233445566778899aabbccddeeff")
            let heard = try listen(OpenedHLS(server.address("list.m3u8")), delay: 1_024 / 44_100)
            #expect(heard.count == 1 && heard[0].error < 0.020, "\(heard)")
        }

        @Test func itIsReadWithoutBeingPlayed() throws {
            try packager.package(HLSPackager.kinds[0])
            var source = try ReaderSource(server.address("list.m3u8"))
            let (stated, hasEntry) = (source.frameCount, source.entry != nil)
            let count = try #require(stated)
            #expect(count.isExact && abs(count.value.rawValue - 20 * 44_100) < 5_000 && !hasEntry, "\(count)")
            var samples = [Float](repeating: 0, count: 2 * 44_100)
            var span = samples.mutableSpan
            let readCount = try source.read(into: &span)
            #expect(readCount == FrameCount(44_100))
            let place = CodedAudio.seconds(of: Array(samples[8_820...]), channelCount: 2, rate: 44_100)
            #expect(abs((place ?? 0) + 0.023 - 0.1) < 0.030, "\(String(describing: place))")
        }

        @Test func anOutputFileHasItsFormatAndItsErrorsAreTold() throws {
            try packager.package(HLSPackager.kinds[0])
            packager.folder.write(
                "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nnone.ts\n#EXT-X-ENDLIST", to: "bad.m3u8")
            for (name, error) in [("list.m3u8", nil), ("bad.m3u8", "status 404")] {
                var configuration = StreamerConfiguration()
                configuration.output = .file(packager.folder("out.wav"))
                configuration.channelCount = nil
                configuration.duration = .seconds(3)
                let streamer = try Streamer(configuration, sampledLike: server.address(name))
                defer { streamer.close() }
                do throws(StreamError) {
                    try streamer.playToEnd(server.address(name))
                    #expect(error == nil)
                } catch let told {
                    #expect(error.map { told.description.contains($0) } == true, "\(told)")
                }
            }
            let bytes = Folder.bytes(of: packager.folder("out.wav"))
            #expect(Array(bytes[22..<28]) == [2, 0, 0x44, 0xAC, 0, 0], "two channels at 44,100 Hz")
        }

        @Test func aLocalPlaylistIsPlayed() throws {
            try packager.package(HLSPackager.kinds[0])
            let heard = try listen(OpenedHLS(packager.folder("list.m3u8")), delay: 1_024 / 44_100)
            #expect(heard.count == 1 && abs(heard[0].end - 20) < 0.15 && heard[0].error < 0.020, "\(heard)")
        }

        /// `EXT-X-START`, in the playlist of the segments or in the one that names it.
        @Test(arguments: [true, false]) func playbackBeginsWhereThePlaylistSays(isPrecise: Bool) throws {
            try packager.package(HLSPackager.kinds[0])
            let tag = "#EXT-X-START:TIME-OFFSET=-7.5,PRECISE=\(isPrecise ? "YES" : "NO")\n"
            let list = Folder.text(of: packager.folder("list.m3u8"))
            packager.folder.write(
                list.replacing("#EXTM3U\n", with: "#EXTM3U\n" + tag, maxReplacements: 1), to: "own.m3u8")
            packager.folder.write(
                "#EXTM3U\n" + tag + "#EXT-X-STREAM-INF:BANDWIDTH=128000\nlist.m3u8\n", to: "main.m3u8")
            for name in ["own.m3u8", "main.m3u8"] {
                let opened = try OpenedHLS(server.address(name))
                defer { opened.source.stop() }
                let start = opened.reader.position.value.inSeconds
                #expect(abs(start - (isPrecise ? 12.5 : 12)) < 0.1, "\(start) of \(name)")
                let piece = try opened.reader.readSome(8_820)
                let place = try #require(CodedAudio.seconds(of: piece, channelCount: 2, rate: 44_100))
                #expect(abs(place + 1_024.0 / 44_100 - start) < 0.020, "\(place) of \(name)")
                #expect(try opened.reader.seek(to: .zero).value == .zero)
            }
        }

        /// Segments without a container; with an ID3 tag that states the time, and without.
        @Test(arguments: ["adts", "mp3"], [true, false])
        func elementarySegmentsArePlayed(format: String, hasTags: Bool) throws {
            let durations = try packager.packElementary(
                format == "adts"
                    ? HLSPackager.aac
                    : [
                        "-c:a", "libmp3lame", "-b:a", "128k", "-segment_format_options",
                        "write_xing=0:id3v2_version=0",
                    ],
                format: format)
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:3\n"
            var time = 10.0
            for (number, duration) in durations.enumerated() {
                let sound = Folder.bytes(of: packager.folder("list-\(number).ts"))
                let ticks = (1 << 33) - 900_000 + Int(time * 90_000)
                let tag = hasTags ? HLSTests.tag(UInt64(ticks & (1 << 33 - 1))) : []
                packager.folder.write(tag + sound, to: "list-\(number).ts")
                text += "#EXTINF:\(duration),\nlist-\(number).ts\n"
                time += duration
            }
            packager.folder.write(text + "#EXT-X-ENDLIST\n", to: "list.m3u8")
            let opened = try OpenedHLS(server.address("list.m3u8"))
            let delay = format == "adts" ? 1_024.0 / 44_100 : 1_634.0 / 44_100
            _ = try opened.reader.seek(to: .seconds(9.5))
            let heard = try listen(opened, delay: delay)
            #expect(heard.count == 1 && abs(heard[0].end - 20) < 0.25 && heard[0].error < 0.020, "\(heard)")
            #expect(abs(heard[0].start - 9.5) < 0.001)
        }

        static func tag(_ ticks: UInt64) -> [UInt8] {
            let body =
                Array("com.apple.streaming.transportStreamTimestamp\0".utf8)
                + (0..<8).map { UInt8(truncatingIfNeeded: ticks >> (8 * (7 - $0))) }
            return Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, UInt8(body.count + 10)] + Array("PRIV".utf8)
                + [0, 0, 0, UInt8(body.count), 0, 0] + body
        }

        /// Writes the playlist anew with another address for some of its segments.
        private func change(_ name: String, _ addresses: [Int: String]) {
            var number = -1
            let lines = Folder.text(of: packager.folder(name)).split(separator: "\n").map { line -> String in
                guard !line.hasPrefix("#") else { return String(line) }
                number += 1
                return addresses[number] ?? String(line)
            }
            packager.folder.write(lines.joined(separator: "\n") + "\n", to: name)
        }

        @Test func aLostSegmentIsLeftOutAndPositionsStayRight() throws {
            try packager.package(HLSPackager.kinds[0])
            change("list.m3u8", [3: "nothing.seg", 6: "status=500/list-6.ts"])
            let opened = try OpenedHLS(server.address("list.m3u8"))
            let heard = try listen(opened, delay: 1_024 / 44_100)
            #expect(heard.count == 3 && heard.allSatisfy { $0.error < 0.020 }, "\(heard)")
            let ends = heard.flatMap { [$0.start, $0.end] }
            for (end, expected) in zip(ends, [0, 6, 8, 12, 14, 20.0]) { #expect(abs(end - expected) < 0.2, "\(ends)") }
            // A seek into the lost segment leads behind it.
            #expect(abs(try opened.reader.seek(to: .seconds(7)).value.inSeconds - 8) < 0.05)
            // Four requests each, and no more.
            #expect(server.requests.count { $0[1].contains("nothing.seg") } <= 8)
        }

        @Test func aLateSegmentIsWaitedForAndABrokenOneIsResumed() throws {
            try packager.package(HLSPackager.kinds[0])
            change(
                "list.m3u8",
                [2: "late=1.5/list-2.ts", 4: "cutonce=9000/list-4.ts", 5: "slow=40000/list-5.ts"])
            let heard = try listen(OpenedHLS(server.address("list.m3u8")), delay: 1_024 / 44_100)
            #expect(heard.count == 1 && abs(heard[0].end - 20) < 0.15 && heard[0].error < 0.020, "\(heard)")
        }

        /// Another encoding, rate, and channel count, with timestamps that begin anew.
        @Test func aDiscontinuityIsPlayedThroughAndSought() throws {
            try packager.package(HLSPackager.kinds[0], name: "one")
            try packager.package(
                .init(
                    testDescription: "", options: HLSPackager.aac + ["-ar", "48000", "-af", "pan=mono|c0=c0"]),
                name: "two", input: ["-ss", "8"])
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n"
            for number in 0..<4 { text += "#EXTINF:2,\none-\(number).ts\n" }
            text += "#EXT-X-DISCONTINUITY\n"
            for number in 0..<6 { text += "#EXTINF:2,\ntwo-\(number).ts\n" }
            packager.folder.write(text + "#EXT-X-ENDLIST\n", to: "list.m3u8")
            let opened = try OpenedHLS(server.address("list.m3u8"))
            #expect(opened.reader.format.channelCount == 2)
            let heard = try listen(opened, delay: 1_024 / 44_100)
            #expect(heard.allSatisfy { $0.error < 0.030 } && abs((heard.last?.end ?? 0) - 20) < 0.2, "\(heard)")
            #expect(heard.reduce(0) { $0 + $1.end - $1.start } > 19.5)
            for second in [10.0, 4, 15, 7.5] {
                _ = try opened.reader.seek(to: .seconds(second))
                // Leaves out the decoder's first packets, which overlap packets that were not decoded.
                _ = try opened.reader.readSome(2_048)
                let piece = try opened.reader.readSome(8_820)
                let place = try #require(CodedAudio.seconds(of: piece, channelCount: 2, rate: 44_100))
                #expect(abs(place + 0.023 - second - 2_048 / 44_100) < 0.030, "\(place) for \(second)")
            }
        }

        /// Durations rounded up to seconds, as of playlists before version 3.
        @Test func roundedDurationsDoNotMisleadASeek() throws {
            try packager.package(HLSPackager.kinds[0], seconds: 1.5)
            let text = Folder.text(of: packager.folder("list.m3u8")).split(separator: "\n").map { line in
                line.hasPrefix("#EXTINF:") ? "#EXTINF:2," : String(line)
            }
            packager.folder.write(text.joined(separator: "\n"), to: "list.m3u8")
            let opened = try OpenedHLS(server.address("list.m3u8"))
            for second in [9.0, 15, 3] {
                _ = try opened.reader.seek(to: .seconds(second))
                let piece = try opened.reader.readSome(8_820)
                let place = try #require(CodedAudio.seconds(of: piece, channelCount: 2, rate: 44_100))
                let position = opened.reader.position.value.inSeconds - 0.2
                #expect(abs(place + 0.023 - position) < 0.020, "\(place) at \(position) for \(second)")
            }
        }

        @Test func theBestStreamOfAMasterPlaylistIsPlayedAndAnotherIfItFails() throws {
            try packager.package(HLSPackager.kinds[0])
            packager.folder.write(
                """
                #EXTM3U
                #EXT-X-STREAM-INF:BANDWIDTH=2000000,CODECS="avc1.4d401e,mp4a.40.2",RESOLUTION=320x240
                video.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=300000,CODECS="mp4a.40.2"
                nothing.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=140000,CODECS="mp4a.40.2"
                list.m3u8
                """, to: "main.m3u8")
            let heard = try listen(OpenedHLS(server.address("main.m3u8")), delay: 1_024 / 44_100)
            #expect(heard.count == 1 && heard[0].error < 0.020, "\(heard)")
            #expect(!server.requests.contains { $0[1].contains("video") })
        }

        @Test func noMoreIsFetchedThanIsAskedFor() throws {
            try packager.package(HLSPackager.kinds[5])
            let opened = try OpenedHLS(server.address("list.m3u8", "norange"))
            let heard = try listen(opened, delay: 1_024 / 44_100)
            #expect(heard.count == 1 && heard[0].error < 0.020, "a server without ranges: \(heard)")
            let ranges = try OpenedHLS(server.address("list.m3u8"))
            _ = try ranges.reader.readAll()
            let asked = server.requests.filter { $0[1] == "/list-all.ts" }.map { $0[2] }
            let count = Folder.text(of: packager.folder("list.m3u8")).split(separator: "\n").count {
                $0.hasPrefix("#EXTINF")
            }
            #expect(asked.count == count && asked.allSatisfy { !$0.hasSuffix("-") }, "\(asked)")
        }
    }
#endif
