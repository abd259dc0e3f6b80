#if FFmpeg
    import TenfourMediaSource
    import TenfourAudioCore
    import TestSupport
    import Testing

    @Suite(.onItsOwnThread, .timeLimit(.minutes(30))) struct PlaybackTests {
        private static let format = LPCMFormat(rate: SampleRate(hertz: CodedAudio.rate), channelCount: 2)

        @Test(arguments: Making.allCases)
        func everyFormatPlaysToItsLastSampleAsFFmpegPlaysIt(_ making: Making) throws {
            let reader = try openReader(StoredBytes(making.bytes), format: Self.format)
            let first = reader.demuxer.duration
            let heard = try reader.readAll()
            let expected = try Files.decoded(making.path, rate: CodedAudio.rate, channelCount: 2)
            // We trim the padding of the last AAC packet in MP4; in other formats a resampler may round the end.
            #expect(abs(heard.count - expected.count) / 2 <= 32)
            var worst: Float = 0
            for index in 0..<min(heard.count, expected.count) {
                worst = max(worst, abs(heard[index] - expected[index]))
            }
            #expect(worst < 1e-4)

            let duration = Double(heard.count / 2) / Double(CodedAudio.rate)
            // Encoder padding that the file does not state: at most two frames of 26 ms, or of 52 ms at half the
            // rate.
            #expect(abs(duration - 30) < 0.11)
            #expect(reader.demuxer.duration?.isExact == true)
            #expect(abs((reader.demuxer.duration?.value ?? .zero).inSeconds - duration) < 0.001)
            #expect(abs(reader.position.value.inSeconds - duration) < 0.001)
            // The first duration was exact, or an estimate that is off by less than 4 s.
            #expect(abs((first?.value ?? .zero).inSeconds - duration) < (first?.isExact == true ? 0.001 : 4))
            #expect((reader as? FFmpegReader)?.damagedPacketCount ?? 0 == 0)
        }

        @Test(arguments: [Making.mp3Variable, .m4aLast, .flac, .oggVorbis, .aiff])
        func anotherRateAndOneChannelComeOutAsLong(_ making: Making) throws {
            let format = LPCMFormat(rate: .opus, channelCount: 1)
            let heard = try openReader(StoredBytes(making.bytes), format: format).readAll()
            #expect(abs(heard.count - 30 * 48_000) <= 2)
            #expect(heard.allSatisfy { abs($0) <= 1.01 })
        }

        @Test(arguments: [Making.mp3Variable, .aacADTS, .m4aLast, .flac, .oggVorbis])
        func packetsTellWhereTheyLieAndHowLongTheyAre(_ making: Making) throws {
            let reader = try openReader(StoredBytes(making.bytes), format: Self.format)
            let byteCount = try making.bytes.count
            var (end, frames, bytes) = (0, 0, 0)
            while let packet = try reader.demuxer.nextPacket() {
                #expect(packet.byteCount > 0 && packet.offset + packet.byteCount <= byteCount)
                #expect(packet.offset >= end || making == .oggVorbis)
                end = packet.offset + packet.byteCount
                frames += packet.frameCount.rawValue
                bytes += packet.byteCount
            }
            #expect(abs(Double(frames) / Double(CodedAudio.rate) - 30) < (making == .oggVorbis ? 0.5 : 0.2))
            let rate = try #require(reader.demuxer.bitRate)
            #expect(abs(Double(rate) - Double(bytes) * 8 / 30) < Double(rate) / 20)
        }

        /// A file may be longer than memory, so bytes a minute ahead are not read.
        @Test(arguments: Making.allCases.filter { $0 != .m4aLast })
        func nothingFarAheadIsReadWhilePlaying(_ making: Making) throws {
            let byteSource = StoredBytes(try making.bytes, isHere: false)
            let reader = try openReader(byteSource, format: Self.format)
            let share = try making.bytes.count / 30
            for second in 1...8 {
                _ = try reader.readSome(CodedAudio.rate)
                #expect(byteSource.readEnd < (second + 4) * 2 * share + 262_144)
            }
            #expect(byteSource.jumpCount < 6)
        }

        @Test func threeMegabytesOfCoverAreSteppedOver() throws {
            let folder = Folder()
            try Files.run(
                "ffmpeg",
                [
                    "-v", "error", "-y", "-f", "lavfi", "-i", "nullsrc=s=1024x1024,geq=random(1)*255:128:128",
                    "-frames:v", "1",
                    folder("cover.png"),
                ])
            #expect(Folder.bytes(of: folder("cover.png")).count > 1_000_000)
            for (name, options) in [("a.mp3", ["-q:a", "4"]), ("a.m4a", ["-c:v", "copy"]), ("a.flac", [])] {
                try Files.run(
                    "ffmpeg",
                    ["-v", "error", "-y", "-i", Files.shared.wav, "-i", folder("cover.png"), "-map", "0", "-map", "1"]
                        + options + [
                            "-c:v", "copy", "-disposition:v", "attached_pic", "-metadata", "title=A \u{1B}[31m song",
                            "-metadata", "artist=Somebody", "-metadata", "album=Record", folder(name),
                        ])
                let byteSource = StoredBytes(Folder.bytes(of: folder(name)), isHere: false)
                let reader = try openReader(byteSource, format: Self.format)
                #expect(reader.demuxer.track.title == "A \u{FFFD}[31m song")
                #expect(reader.demuxer.track.artist == "Somebody")
                #expect(reader.demuxer.track.album == "Record")
                if name == "a.mp3" { #expect(byteSource.readByteCount < 400_000) }
                #expect(abs(try reader.readAll().count / 2 - 30 * CodedAudio.rate) < 32)
            }
        }

        @Test(arguments: [Making.m4aFirst, .m4aLast], [true, false])
        func anIndexAtEitherEndIsFoundWhereNothingComesTwice(_ making: Making, knowsLength: Bool) throws {
            let byteSource = StoredBytes(try making.bytes, knowsLength: knowsLength, isSeekable: false)
            let reader = try openReader(byteSource, format: Self.format)
            #expect(abs(try reader.readAll().count / 2 - 30 * CodedAudio.rate) < 32)
        }

        /// Seeking works among the bytes that had to be kept for playback.
        @Test func aFullyBufferedStreamCanSeek() throws {
            let reader = try openReader(
                StoredBytes(try Making.m4aLast.bytes, isSeekable: false), format: Self.format)
            _ = try reader.readSome(CodedAudio.rate)
            _ = try reader.seek(to: .seconds(20))
            #expect(abs(try reader.readAll().count / 2 - 10 * CodedAudio.rate) < 32)
        }

        /// The stream resembles a radio stream: no length, not seekable, starting within a frame.
        @Test(arguments: [Making.mp3ConstantWithoutTag, .aacADTS, .oggVorbis, .flac])
        func aStreamWithoutLengthOrSeekingPlays(_ making: Making) throws {
            let torn = [Making.mp3ConstantWithoutTag, .aacADTS].contains(making) ? 1_000 : 0
            let bytes = Array(try making.bytes.dropFirst(torn))
            let reader = try openReader(
                StoredBytes(bytes, knowsLength: false, isSeekable: false), format: Self.format)
            #expect(reader.demuxer.duration?.isExact != true || making == .flac)
            let heard = try reader.readAll()
            #expect(abs(Double(heard.count / 2) / Double(CodedAudio.rate) - 30) < 0.2)
            #expect(reader.demuxer.duration?.isExact == true)
        }

        @Test func interruptedAndResumedItGoesOn() throws {
            let byteSource = StoredBytes(try Making.m4aFirst.bytes)
            let reader = try openReader(byteSource, format: Self.format)
            _ = try reader.readSome(44_100)
            byteSource.interrupt()
            #expect(throws: ReaderError.demuxer(.byteSource(.interrupted))) { try reader.readAll() }
            #expect(throws: ReaderError.demuxer(.byteSource(.interrupted))) { try reader.seek(to: .seconds(29)) }
            byteSource.resume()
            _ = try reader.seek(to: .seconds(29))
            #expect(abs(try reader.readAll().count / 2 - CodedAudio.rate) < 32)
        }
    }
#endif
