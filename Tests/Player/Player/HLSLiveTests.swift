#if FFmpeg
    import Glibc
    import TenfourAudioCore
    import TenfourMediaSource
    import TestSupport
    import Testing

    @testable import TenfourPlayer

    /// Live HLS from a web server on this machine: the tests publish a segment of 1 s every second, or ffmpeg does. They
    /// take as long as what they play.
    @Suite(.serialized, .onItsOwnThread, .inRealTime, .timeLimit(.minutes(30))) struct HLSLiveTests {
        private let packager = HLSPackager()
        private let server: SoundServer
        private let out = Folder()

        init() throws { server = try SoundServer(packager.folder) }

        /// Publishes the segments `numbers` as the live playlist. `changes` are lines before the segment of a number.
        private func publish(
            _ numbers: Range<Int>, first: Int? = nil, ended: Bool = false, changes: [Int: String] = [:],
            addresses: [Int: String] = [:]
        ) {
            var text = "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(first ?? numbers.lowerBound)\n"
            let passed = changes.keys.count { $0 < numbers.lowerBound }
            text += "#EXT-X-DISCONTINUITY-SEQUENCE:\(passed)\n"
            for number in numbers {
                if let change = changes[number] { text += change + "\n" }
                text += "#EXTINF:1.0,\n\(addresses[number] ?? "list-\(number).ts")\n"
            }
            if ended { text += "#EXT-X-ENDLIST\n" }
            packager.folder.write(text, to: "live.m3u8")
        }

        private func streamer(
            _ output: StreamerConfiguration.Output, _ configure: (inout StreamerConfiguration) -> Void = { _ in }
        ) throws -> Streamer {
            var configuration = StreamerConfiguration()
            configuration.output = output
            configuration.channelCount = 2
            configuration.download.timeout = .seconds(5)
            configure(&configuration)
            return try Streamer(configuration)
        }

        /// A stretch of the recording that was heard without a jump, in seconds.
        private struct Stretch { var start: Double, end: Double }

        /// Returns the stretches of the recording in a WAV file of 48 kHz and two channels.
        private func stretches(_ path: String) -> [Stretch] {
            let bytes = Folder.bytes(of: path)
            guard bytes.count > 1_000 else { return [] }
            let samples = stride(from: 44, to: bytes.count - 1, by: 2).map {
                Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32_768
            }
            var all: [Stretch] = []
            for start in stride(from: 0, to: samples.count - 9_600, by: 9_600) {
                guard
                    let place = CodedAudio.seconds(
                        of: Array(samples[start..<start + 9_600]), channelCount: 2, rate: 48_000)
                else { continue }
                if let last = all.last, abs(last.end - place) < 0.020 {
                    all[all.count - 1].end = place + 0.1
                } else {
                    all.append(Stretch(start: place, end: place + 0.1))
                }
            }
            // Leaves out the measurements that a jump falls into.
            return all.filter { $0.end - $0.start > 0.25 }
        }

        @Test func aBroadcastIsPlayedFromItsEdgeToItsEndWithoutAGap() throws {
            try packager.package(HLSPackager.kinds[0], seconds: 1)
            publish(0..<6)
            let streamer = try streamer(.file(out("heard.wav")))
            defer { streamer.close() }
            streamer.open(server.address("live.m3u8"))
            streamer.play()
            #expect(waiting { streamer.progress.position.value > .seconds(3) })
            #expect(streamer.progress.isLive && streamer.progress.duration == nil)
            #expect(streamer.progress.window?.lowerBound == .zero)
            for number in 7...20 {
                sleep(1)
                publish(max(number - 6, 0)..<number, ended: number == 20)
            }
            #expect(waiting { streamer.state.isOver } && streamer.state == .ended(.finished))
            let heard = stretches(out("heard.wav"))
            #expect(heard.count == 1, "\(heard)")
            #expect(abs((heard.first?.start ?? 0) - 3) < 0.2 && (heard.first?.end ?? 0) > 19.5, "\(heard)")
        }

        @Test func whatGoesWrongInABroadcastIsPassedOver() throws {
            try packager.package(HLSPackager.kinds[0], seconds: 1)
            try packager.package(
                .init(testDescription: "", options: ["-c:a", "libmp3lame", "-ar", "48000"]), name: "two", seconds: 1)
            let late = Folder.bytes(of: packager.folder("list-10.ts"))
            unsafe unlink(packager.folder("list-10.ts"))
            var addresses = [8: "nothing.ts", 12: "late=1/list-12.ts"]
            for number in 14...20 { addresses[number] = "two-\(number).ts" }
            let changes = [14: "#EXT-X-DISCONTINUITY"]
            publish(0..<6)
            let streamer = try streamer(.file(out("heard.wav")))
            defer { streamer.close() }
            streamer.open(server.address("live.m3u8"))
            streamer.play()
            for number in 7...20 {
                usleep(1_000_000)
                publish(max(number - 6, 0)..<number, ended: number == 20, changes: changes, addresses: addresses)
                // Segment 10 exists only one and a half seconds after it was announced.
                if number == 12 {
                    usleep(500_000)
                    packager.folder.write(late, to: "list-10.ts")
                }
                // A playlist that cannot be read for a moment.
                if number == 15 { packager.folder.write("", to: "live.m3u8") }
            }
            #expect(waiting { streamer.state.isOver } && streamer.state == .ended(.finished))
            let heard = stretches(out("heard.wav"))
            let ends = heard.flatMap { [$0.start, $0.end] }
            // Without segment 8. At the discontinuity the delay of the other encoder begins.
            try #require(heard.count == 2 || heard.count == 3, "\(ends)")
            #expect(abs(heard[0].end - 8) < 0.2 && abs(heard[1].start - 9) < 0.2, "\(ends)")
            #expect(heard.dropFirst(2).allSatisfy { abs($0.start - 14) < 0.2 }, "\(ends)")
            #expect((heard.last?.end ?? 0) > 19.5, "\(ends)")
        }

        @Test func aBroadcastIsSoughtWithinItsWindow() throws {
            try packager.package(HLSPackager.kinds[0], seconds: 1)
            publish(0..<12)
            let streamer = try streamer(.clock)
            defer { streamer.close() }
            streamer.open(server.address("live.m3u8"))
            streamer.play()
            #expect(waiting { streamer.state == .playing })
            let edge = streamer.progress.position.value
            #expect(edge >= .seconds(9) && edge < .seconds(11), "\(edge)")
            streamer.seek(to: .seconds(2.5))
            #expect(isPlayed(streamer, between: 2.6, 6))
            publish(6..<14)
            #expect(waiting { streamer.progress.window?.lowerBound ?? .zero > .seconds(5) })
            // The window has moved on: a seek to before it leads to its start, one behind its end to the edge.
            streamer.seek(to: .zero)
            #expect(isPlayed(streamer, between: 5.9, 9))
            streamer.seek(to: .seconds(1_000))
            #expect(isPlayed(streamer, between: 10.9, 14))
        }

        /// Waits until a position between these seconds is played.
        private func isPlayed(_ streamer: Streamer, between start: Double, _ end: Double) -> Bool {
            waiting {
                let second = streamer.progress.position.value.inSeconds
                return streamer.state == .playing && second > start && second < end
            }
        }

        @Test func afterALongPauseABroadcastGoesOnAtItsEdge() throws {
            try packager.package(HLSPackager.kinds[0], seconds: 1)
            publish(0..<5)
            let streamer = try streamer(.clock)
            defer { streamer.close() }
            streamer.open(server.address("live.m3u8"))
            streamer.play()
            #expect(waiting { streamer.progress.position.value > .seconds(2.5) })
            streamer.pause()
            for number in 5..<15 { unsafe unlink(packager.folder("list-\(number).ts")) }
            publish(15..<20)
            sleep(3)
            streamer.play()
            #expect(waiting { streamer.state == .playing && streamer.progress.position.value > .seconds(17.2) })
            #expect(!server.requests.contains { $0[1] == "/list-6.ts" })
        }

        @Test func aBroadcastThatStartsAgainIsPlayedOn() throws {
            try packager.package(HLSPackager.kinds[0], seconds: 1)
            publish(4..<8, first: 100)
            let streamer = try streamer(.file(out("heard.wav")))
            defer { streamer.close() }
            streamer.open(server.address("live.m3u8"))
            streamer.play()
            #expect(waiting { streamer.progress.position.value > .seconds(2) })
            publish(12..<15, first: 0)
            sleep(2)
            publish(12..<16, first: 0, ended: true)
            #expect(waiting { streamer.state.isOver } && streamer.state == .ended(.finished))
            let ends = stretches(out("heard.wav")).flatMap { [$0.start, $0.end] }
            for (end, expected) in zip(ends, [5, 8, 12, 16.0]) { #expect(abs(end - expected) < 0.3, "\(ends)") }
            #expect(ends.count == 4, "\(ends)")
        }

        @Test func aPlaylistThatIsGoneIsGivenUpAfterWhatWasFetched() throws {
            try packager.package(HLSPackager.kinds[0], seconds: 1)
            publish(0..<5)
            let streamer = try streamer(.file(out("heard.wav"))) { $0.download.giveUpLiveAfter = .seconds(3) }
            defer { streamer.close() }
            streamer.open(server.address("live.m3u8"))
            streamer.play()
            #expect(waiting { streamer.progress.position.value > .seconds(2) })
            unsafe unlink(packager.folder("live.m3u8"))
            #expect(waiting { streamer.state.isOver })
            #expect("\(streamer.state)".contains("status 404"), "\(streamer.state)")
            #expect((stretches(out("heard.wav")).first?.end ?? 0) > 4.5)
        }

        @Test func aSeekComesBetweenWhileItWaitsForASegment() throws {
            try packager.package(HLSPackager.kinds[0], seconds: 1)
            publish(0..<20, ended: true, addresses: [2: "late=20/list-2.ts"])
            let streamer = try streamer(.clock) { $0.download.timeout = .seconds(30) }
            streamer.open(server.address("live.m3u8"))
            streamer.play()
            #expect(waiting { streamer.state.isBuffering && streamer.progress.position.value > .seconds(1.9) })
            streamer.seek(to: .seconds(10))
            #expect(isPlayed(streamer, between: 10.1, 14))
            let downloaded = streamer.progress.downloaded
            #expect(downloaded.map { $0.lowerBound >= 0.5 && $0.upperBound > $0.lowerBound } == true)
            #expect(streamer.progress.duration == Estimate(.seconds(20), isExact: true))
            streamer.seek(to: .seconds(2.5))
            #expect(waiting { streamer.state.isBuffering })
            let begin = ContinuousClock.now
            streamer.close()
            #expect(ContinuousClock.now - begin < .seconds(10), "closing waited for the segment")
        }

        /// The first bytes of a segment come, and the rest does not.
        @Test func aBrokenLiveSegmentIsLeft() throws {
            try packager.package(HLSPackager.kinds[0], seconds: 1)
            publish(0..<6, addresses: [4: "stall=6000/list-4.ts"])
            let streamer = try streamer(.file(out("heard.wav"))) { $0.download.timeout = .seconds(30) }
            defer { streamer.close() }
            streamer.open(server.address("live.m3u8"))
            streamer.play()
            #expect(waiting { streamer.progress.position.value > .seconds(3.9) })
            publish(0..<8, addresses: [4: "stall=6000/list-4.ts"])
            #expect(waiting { streamer.progress.position.value > .seconds(6) })
            publish(0..<8, ended: true, addresses: [4: "stall=6000/list-4.ts"])
            #expect(waiting { streamer.state.isOver } && streamer.state == .ended(.finished))
            let ends = stretches(out("heard.wav")).flatMap { [$0.start, $0.end] }
            #expect(ends.count == 4 && abs(ends[2] - 5) < 0.2 && abs(ends[3] - 8) < 0.3, "\(ends)")
        }

        /// ffmpeg as the server's packager, which deletes old segments.
        @Test(arguments: [[], ["-hls_segment_type", "fmp4", "-hls_fmp4_init_filename", "init.mp4"]])
        func aBroadcastOfFFmpegIsPlayed(options: [String]) throws {
            let packing = try Program(
                "ffmpeg",
                ["-v", "error", "-y", "-re", "-i", packager.folder("sound.wav")] + HLSPackager.aac + options + [
                    "-f", "hls", "-hls_time", "1", "-hls_list_size", "5", "-hls_flags", "delete_segments",
                    packager.folder("live.m3u8"),
                ])
            defer { packing.send(SIGKILL) }
            let list = packager.folder("live.m3u8")
            #expect(waiting { Folder.text(of: list).split(separator: "\n").count { $0.hasPrefix("#EXTINF") } >= 4 })
            let streamer = try streamer(.file(out("heard.wav"))) { $0.duration = .seconds(8) }
            defer { streamer.close() }
            streamer.open(server.address("live.m3u8"))
            streamer.play()
            #expect(waiting { streamer.state.isOver } && streamer.state == .ended(.playedEnough))
            let heard = stretches(out("heard.wav"))
            #expect(heard.count == 1 && (heard.first.map { $0.end - $0.start } ?? 0) > 7.5, "\(heard)")
        }
    }
#endif
