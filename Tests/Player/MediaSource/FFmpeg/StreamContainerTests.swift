#if FFmpeg
    import TenfourMediaSource
    import Glibc
    import TenfourSystem
    import TenfourAudioCore
    import TestSupport
    import Testing

    /// Transport streams and Matroska, with and without video, as files and as pipes.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct StreamContainerTests {
        struct Kind: CustomTestStringConvertible, Sendable {
            var name: String
            var options: [String]
            var hasPictures = false
            var testDescription: String { name + (hasPictures ? " with pictures" : "") }
        }

        private static let kinds = [
            Kind(name: "a.ts", options: ["-c:a", "aac", "-b:a", "128k", "-aac_pns", "0"]),
            Kind(name: "b.ts", options: ["-c:a", "mp2", "-b:a", "192k"]),
            Kind(name: "c.ts", options: ["-c:a", "aac", "-aac_pns", "0", "-c:v", "mpeg2video"], hasPictures: true),
            Kind(name: "a.mka", options: ["-c:a", "flac"]),
            Kind(name: "b.mkv", options: ["-c:a", "aac", "-aac_pns", "0", "-c:v", "mpeg4"], hasPictures: true),
            Kind(name: "a.webm", options: ["-c:a", "libopus", "-b:a", "96k"]),
            Kind(name: "b.webm", options: ["-c:a", "libvorbis"]),
        ]

        private let folder = Folder()

        private func make(_ kind: Kind) throws -> [UInt8] {
            let pictures = kind.hasPictures ? ["-f", "lavfi", "-i", "testsrc=size=320x240:rate=10", "-shortest"] : []
            try Files.run(
                "ffmpeg",
                ["-v", "error", "-y", "-i", Files.shared.wav] + pictures + kind.options + [
                    "-t", "20", folder(kind.name),
                ])
            return Folder.bytes(of: folder(kind.name))
        }

        /// Reads at the file's own rate and channel count, and seeks exactly.
        @Test(arguments: kinds) func itPlaysAsFFmpegPlaysIt(kind: Kind) throws {
            let bytes = try make(kind)
            let reader = try openReader(StoredBytes(bytes), format: nil)
            let rate = reader.format.rate.hertz
            #expect(rate == (kind.name == "a.webm" ? 48_000 : 44_100) && reader.format.channelCount == 2)
            let heard = try reader.readAll()
            #expect(abs(Double(heard.count) / 2 / Double(rate) - 20) < 0.15, "\(heard.count)")
            for second in [12, 3, 17] {
                _ = try reader.seek(to: .seconds(second))
                let piece = try reader.readSome(8_192)
                let place = try #require(CodedAudio.seconds(of: piece, channelCount: 2, rate: rate))
                #expect(abs(place - Double(second)) < 0.1, "\(place) for \(second)")
            }
            let length = try #require(reader.demuxer.duration?.value.inSeconds)
            #expect(abs(length - 20) < 1, "\(length)")
            let expected = try Files.decoded(folder(kind.name), rate: rate, channelCount: 2)
            // WebM timestamps are in whole milliseconds, so the Opus pre-skip ends within one millisecond.
            guard kind.name != "a.webm" else { return }
            // Since FFmpeg 6, Matroska states the encoder delay of AAC. We skip it, but ffmpeg itself plays it.
            let front = (expected.count - heard.count) / 2
            let told = kind.name == "b.mkv" && front > 0 ? 1_024 : 0
            #expect(abs(front - told) <= rate / 1_000, "\(front)")
            let worst = zip(heard, expected.dropFirst(2 * max(front, 0)))
                .reduce(Float.zero) { max($0, abs($1.0 - $1.1)) }
            #expect(worst < 0.01, "\(worst)")
        }

        /// `ffmpeg … -f mpegts - | tenfour play -`: the beginning is complete, and it is converted to the rate of a
        /// card.
        @Test(arguments: kinds) func aPipeBringsAllOfIt(kind: Kind) throws {
            let byteSource = StoredBytes(try make(kind), knowsLength: false, isSeekable: false)
            let reader = try openReader(byteSource, format: .stereo)
            let heard = try reader.readAll()
            #expect(abs(Double(heard.count) / 2 / 48_000 - 20) < 0.15, "\(heard.count)")
            let place = CodedAudio.seconds(of: Array(heard[9_600..<28_800]), channelCount: 2, rate: 48_000)
            #expect(abs((place ?? 0) - 0.1) < 0.1, "\(String(describing: place))")
        }

        @Test func containersAreRecognisedByTheirFirstBytes() {
            func sniff(_ bytes: [UInt8]) -> ContainerFormat { ContainerFormat(sniffing: bytes.span) }
            var packets = [UInt8](repeating: 0xFF, count: 512)
            for start in [0, 188, 376] { packets[start] = 0x47 }
            #expect(sniff(packets) == .mpegTS && sniff(Array(packets.prefix(188))) != .mpegTS)
            #expect(sniff([0x1A, 0x45, 0xDF, 0xA3]) == .matroska)
            #expect(sniff([0x1F, 0x8B, 8, 0]) == .gzip && ContainerFormat.gzip.refusal?.contains("gunzip") == true)
        }
    }

    /// Seeking in streams whose bytes arrive once and in order.
    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct BufferedSeekTests {
        private static let format = LPCMFormat(rate: SampleRate(hertz: CodedAudio.rate), channelCount: 2)

        private func second(_ reader: any MediaReader) throws -> Double? {
            CodedAudio.seconds(of: try reader.readSome(4_096), channelCount: 2, rate: CodedAudio.rate)
        }

        /// All bytes have been fetched from a server without range requests.
        @Test(arguments: [Making.flac, .oggVorbis, .m4aFirst])
        func allThatIsHeldCanBeGoneAboutIn(_ making: Making) throws {
            let reader = try openReader(ArrivingBytes(try making.bytes), format: Self.format)
            _ = try reader.readSome(100)
            for wanted in [20.0, 5, 28, 1.5, 14] {
                _ = try reader.seek(to: .seconds(wanted))
                let heard = try #require(try second(reader))
                #expect(abs(heard - wanted) < 0.1, "\(heard) for \(wanted)")
            }
        }

        @Test(arguments: [Making.flac, .oggVorbis])
        func onlySoFarAsItIsHere(_ making: Making) throws {
            let bytes = try making.bytes
            let byteSource = ArrivingBytes(bytes, arrived: bytes.count / 2)
            let reader = try openReader(byteSource, format: Self.format)
            _ = try reader.readSome(100)
            let landed = try reader.seek(to: .seconds(28))
            let heard = try #require(try second(reader))
            #expect(landed.value.inSeconds < 18 && landed.value.inSeconds > 8, "\(landed)")
            #expect(abs(heard - landed.value.inSeconds) < 0.15)
            // A seek to bytes that have been dropped is refused, and playback continues.
            byteSource.forget(before: bytes.count / 3)
            let before = reader.position.value
            #expect(throws: ReaderError.demuxer(.notSeekable)) { try reader.seek(to: .seconds(1)) }
            #expect(reader.position.value == before)
            #expect(abs(try #require(try second(reader)) - before.inSeconds) < 0.15)
        }

        /// A live station: later bytes do not exist yet.
        @Test(arguments: [Making.mp3ConstantWithoutTag, .mp3VariableWithoutTag, .aacADTS])
        func aLiveStreamIsGoneOnInUpToWhatIsHere(_ making: Making) throws {
            let bytes = try making.bytes
            let byteSource = ArrivingBytes(bytes, arrived: bytes.count / 2, isLive: true)
            let reader = try openReader(byteSource, format: Self.format)
            _ = try reader.readSome(100)
            let begin = ContinuousClock.now
            let landed = try reader.seek(to: .seconds(29))
            let heard = try #require(try second(reader))
            #expect(ContinuousClock.now - begin < .seconds(20), "the reader waited for bytes that have not arrived")
            #expect(landed.value.inSeconds < 20 && landed.value.inSeconds > 8, "\(landed)")
            #expect(abs(heard - landed.value.inSeconds) < 0.2, "\(heard), \(landed)")
            // Seeks back, and once more to the end of the available bytes.
            _ = try reader.seek(to: .seconds(4))
            #expect(abs(try #require(try second(reader)) - 4) < 0.1)
        }

        /// The same for Opus, which this package demuxes itself.
        @Test func opusIsGoneAboutInAsFarAsItIsHere() throws {
            let folder = Folder()
            try Files.run("ffmpeg", ["-v", "error", "-y", "-i", Files.shared.wav, "-b:a", "48k", folder("a.opus")])
            let bytes = Folder.bytes(of: folder("a.opus"))
            let whole = try openReader(ArrivingBytes(bytes), format: .stereo)
            let live = ArrivingBytes(bytes, arrived: bytes.count / 2, isLive: true)
            let half = try openReader(live, format: .stereo)
            func heard(_ reader: any MediaReader) throws -> Double {
                try CodedAudio.seconds(of: reader.readSome(4_096), channelCount: 2, rate: 48_000) ?? -1
            }
            for wanted in [20.0, 5, 28, 1.5] {
                _ = try whole.seek(to: .seconds(wanted))
                #expect(try abs(heard(whole) - wanted) < 0.1)
            }
            _ = try half.readSome(100)
            let landed = try half.seek(to: .seconds(28)).value.inSeconds
            let place = try heard(half)
            #expect((8...18).contains(landed) && abs(place - landed) < 0.2, "\(place), \(landed)")
            _ = try half.seek(to: .seconds(4))
            #expect(try abs(heard(half) - 4) < 0.1)
            live.forget(before: bytes.count / 3)
            #expect(throws: ReaderError.demuxer(.notSeekable)) { try half.seek(to: .seconds(1)) }
        }

        /// The first timestamp is near the largest possible value.
        @Test func aHostileClockIsNoTrap() throws {
            for distance in [0, 1, 100_000, 1_000_000, 100_000_000] {
                var bytes = try Making.oggVorbis.bytes
                shiftGranules(of: &bytes, by: Int64.max - Int64(distance) - 40 * 44_100)
                guard let reader = try? openReader(StoredBytes(bytes), format: Self.format) else { continue }
                _ = try? reader.readSome(1_000)
                for second in [0, 5, 29, 1 << 20, 1 << 40] {
                    _ = try? reader.seek(to: .seconds(second))
                    _ = try? reader.readSome(1_000)
                }
            }
        }

        private func shiftGranules(of bytes: inout [UInt8], by distance: Int64) {
            var place = 0
            while place + 27 <= bytes.count, bytes[place...].starts(with: "OggS".utf8) {
                let segments = Int(bytes[place + 26])
                let end = place + 27 + segments + (0..<segments).reduce(0) { $0 + Int(bytes[place + 27 + $1]) }
                let granule = (0..<8).reduce(UInt64(0)) { $0 | UInt64(bytes[place + 6 + $1]) << (8 * UInt64($1)) }
                if granule > 0, granule != .max {
                    let shifted = UInt64(bitPattern: Int64(bitPattern: granule) &+ distance)
                    for index in 0..<8 { bytes[place + 6 + index] = UInt8(truncatingIfNeeded: shifted >> (8 * index)) }
                }
                for index in 22..<26 { bytes[place + index] = 0 }
                let sum = checksum(bytes[place..<end])
                for index in 0..<4 { bytes[place + 22 + index] = UInt8(truncatingIfNeeded: sum >> (8 * index)) }
                place = end
            }
        }

        private func checksum(_ page: ArraySlice<UInt8>) -> UInt32 {
            page.reduce(0) { sum, byte in
                (0..<8).reduce(sum ^ UInt32(byte) << 24) { sum, _ in
                    sum & 1 << 31 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1
                }
            }
        }
    }

    /// A byte source whose bytes arrive once and in order; only a given number have arrived.
    private final class ArrivingBytes: ByteSource {
        private let bytes: [UInt8]
        private let arrived: Int
        private let isLive: Bool
        private let places = Locked((reader: 0, forgotten: 0))

        init(_ bytes: [UInt8], arrived: Int? = nil, isLive: Bool = false) {
            self.bytes = bytes
            self.arrived = arrived ?? bytes.count
            self.isLive = isLive
        }

        var limits: BufferLimits {
            get { BufferLimits() }
            set {}
        }

        var state: ByteSourceState {
            let (reader, forgotten) = places.withLock { $0 }
            return ByteSourceState(
                phase: arrived == bytes.count ? .ended : .receiving, byteCount: isLive ? nil : bytes.count,
                available: min(reader, arrived)..<arrived, held: forgotten..<arrived, isSeekable: false,
                isRepeatable: !isLive, isLive: isLive)
        }

        func forget(before offset: Int) { places.withLock { $0.forgotten = offset } }

        /// Bytes that have not arrived come very slowly, so that a test that waits for them ends and fails.
        func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
            if offset < places.withLock({ $0.forgotten }) { throw .failed("these bytes cannot be had again") }
            if offset >= arrived, offset < bytes.count { usleep(500_000) }
            let end = offset < arrived ? arrived : bytes.count
            let count = min(max(end - offset, 0), offset < arrived ? buffer.count : min(buffer.count, 1_000))
            if count > 0 { unsafe buffer.copyBytes(from: bytes[offset..<offset + count]) }
            places.withLock { $0.reader = offset + count }
            return count
        }

        func interrupt() {}
        func resume() {}
        func pause(_ isPaused: Bool) {}
        func stop() {}
    }
#endif
