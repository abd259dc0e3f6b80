#if FFmpeg
    internal import CAV
    internal import TenfourAudioCore

    // FFmpeg's demuxers end at bytes that they do not understand. These functions go on after them, and tell a cut file
    // from a whole one.
    extension FFmpegDemuxer {
        /// The largest number of damaged bytes after which the search for the next packet is given up: 64 MiB.
        private static let damageLimit: Int64 = 1 << 26
        /// The time after a hole in which its packets have timestamps again: two pages of Ogg.
        private static let jumpLimit = Duration.seconds(3)
        /// A size from which on a header has a number in place of a size that its writer did not know. Programs that
        /// write to a pipe state almost 2 or 4 GiB.
        private static let unknownByteCount = Double(0x7E00_0000)
        /// The largest number of boxes of MP4 among which a second file is searched.
        private static let boxLimit = 64
        /// The length in bytes in which the last frame of FLAC is searched. Few frames are longer.
        private static let flacFrameLimit = 1 << 16
        /// The length of WavPack's block header in bytes, which FFmpeg has read when it refuses a block.
        private static let wavPackHeader: Int64 = 32

        /// Records a hole before the packet at byte `offset`, which begins at the timestamp `begin`. Where other streams lie
        /// between the packets, FFmpeg must have marked the packet as damaged, which it does in a transport stream.
        func findHole(at offset: Int64, _ begin: Int64, lasting duration: Int64) {
            lastDuration = duration
            // In FLAC, packets before a hole have no timestamps: the decoder tells where it begins.
            guard openedByteCount != nil, container != .flac, isAudioOnly || container == .mpegTS else { return }
            let isMarked = unsafe packet.handle.pointee.flags & AV_PKT_FLAG_CORRUPT != 0
            let hole = gaps.add(
                offset: offset, begin: begin, duration: duration, isMarked: isMarked,
                shortest: ticks(of: MissingAudio.shortestHole), patience: ticks(of: Self.jumpLimit),
                needsBytes: container != .wavPack)
            if let hole, isAudioOnly || hole.isMarked {
                missing.addHole(at: self.duration(of: hole.begin), lasting: self.duration(of: hole.length))
            }
        }

        /// Records the end that is missing, if the header states a longer duration, or a server more bytes than it has sent.
        /// A file that has grown is not complete yet.
        func findEnd() {
            guard let openedByteCount, let byteCount = stream.byteSource.state.byteCount, byteCount <= openedByteCount,
                lastEnd > 0, lastDuration > 0 || container == .flac
            else { return }
            if byteCount < openedByteCount {
                let share = Double(openedByteCount - stream.start) / Double(max(byteCount - stream.start, 1))
                missing.endEarly(at: duration(of: lastEnd), share: share)
            }
            switch container {
            case .wav: findEndOfWAV()
            default:
                if let stated = statedDuration(in: byteCount, density: bitRate ?? 0) {
                    missing.endEarly(at: duration(of: lastEnd), stated: stated)
                }
                if container == .mp4 { findSecondMovie(before: byteCount) }
            }
        }

        /// Records a second MP4 file behind the first, of which FFmpeg reads nothing. Of fragments it reads all.
        private func findSecondMovie(before byteCount: Int) {
            guard stream.isSeekable else { return }
            var window = ByteWindow(of: stream.byteSource)
            var (offset, hasIndex) = (stream.start, false)
            for _ in 0..<Self.boxLimit {
                guard (try? window.load(at: offset, count: 16)) != nil, window.bytes.count == 16 else { return }
                let isFirst = offset == stream.start
                if window.bytes.holds("moof", at: 4) { return }
                if window.bytes.holds("ftyp", at: 4), !isFirst, hasIndex {
                    return missing.leaveOut(byteCount - offset, at: duration(of: lastEnd))
                }
                hasIndex = hasIndex || window.bytes.holds("moov", at: 4)
                let short = Int(window.bytes.bigEndian32(at: 0))
                let long = Int(window.bytes.bigEndian32(at: 8)) << 32 | Int(window.bytes.bigEndian32(at: 12))
                let size = short == 1 ? long : short
                guard size >= 8, size < byteCount - offset else { return }
                offset += size
            }
        }

        /// Whether FLAC ends with a whole frame, and was not cut within one: ffmpeg leaves the length of the whole in the
        /// header of a part that it copies.
        private func endsWithFLACFrame(_ byteCount: Int) -> Bool {
            guard stream.isSeekable else { return false }
            let begin = max(byteCount - Self.flacFrameLimit, stream.start)
            var window = ByteWindow(of: stream.byteSource, capacity: Self.flacFrameLimit)
            guard (try? window.load(at: begin, count: byteCount - begin)) != nil else { return false }
            let bytes = window.copiedBytes
            return bytes.indices.dropLast().contains { start in
                guard bytes[start] == 0xFF, bytes[start + 1] & 0xFE == 0xF8 else { return false }
                return bytes[start...].reduce(UInt16(0)) { sum, byte in
                    (0..<8).reduce(sum ^ UInt16(byte) << 8) { sum, _ in sum << 1 ^ (sum >> 15 == 1 ? 0x8005 : 0) }
                } == 0
            }
        }

        /// Records the samples that the header of WAV states and the file lacks, which FFmpeg does not, and what follows them.
        private func findEndOfWAV() {
            guard stream.isSeekable, stream.start == 0 else { return }
            var window = ByteWindow(of: stream.byteSource)
            guard let wav = try? WAVStream(&window), let byteCount = wav.byteCount(in: stream.byteSource) else {
                return
            }
            try? wav.findEnd(&window, at: duration(of: lastEnd), after: byteCount, in: &missing)
        }

        /// Forgets what is missing, since reading continues elsewhere.
        func restartMissing() {
            gaps.restart()
            lastDuration = 0
            missing = MissingAudio()
        }

        /// Passes the bytes at which FFmpeg has given up. `damage` is the offset of the first of them. Returns false if
        /// FFmpeg would stay at the same place, or the damage is too long.
        func passDamage(since damage: inout Int64?) -> Bool {
            guard let context = unsafe handle.pointee.pb else { return false }
            let place = unsafe av.avio_seek(context, 0, 1)
            guard place >= 0 else { return false }
            let begin = damage ?? place
            // The first failure may leave the place unchanged.
            guard damage == nil || place > lastDamage, place - begin < Self.damageLimit else { return false }
            (damage, lastDamage) = (begin, place)
            return container != .wavPack || findWavPackBlock(before: begin + Self.damageLimit)
        }

        /// Moves to the next bytes with which a block of WavPack begins.
        private func findWavPackBlock(before limit: Int64) -> Bool {
            guard let context = unsafe handle.pointee.pb else { return false }
            var place = unsafe av.avio_seek(context, 0, 1)
            place = unsafe av.avio_seek(context, max(place - Self.wavPackHeader + 1, 0), 0)
            guard place >= 0 else { return false }
            var word: UInt32 = 0
            while place < limit, unsafe av.avio_feof(context) == 0 {
                word = word << 8 | UInt32(truncatingIfNeeded: unsafe av.avio_r8(context))
                place += 1
                // "wvpk"
                if word == 0x7776_706B { return unsafe av.avio_seek(context, -4, 1) >= 0 }
            }
            return false
        }

        /// The duration that the header states, in a container whose headers are exact; nil if it states none. `density` is
        /// the bit rate.
        func statedDuration(in byteCount: Int, density: Int) -> Duration? {
            guard let track = unsafe handle.pointee.streams[Int(streamIndex)] else { return nil }
            var stated: Duration?
            let none = tenfour_av_no_timestamp()
            switch container {
            case .flac, .aiff, .caf, .wavPack, .au:
                // A part that was cut out by copying its frames has the header of the whole.
                guard let first = seekPoints.first, duration(of: first.ticks) < MissingAudio.shortestEnd else {
                    return nil
                }
                if container == .flac, endsWithFLACFrame(byteCount) { return nil }
                let ticks = unsafe track.pointee.duration
                if ticks != none, ticks > 0 { stated = duration(of: ticks) }
            case .mp4: stated = hasPacketsBeyond(byteCount) ? self.duration?.value : nil
            case .matroska: stated = isAudioOnly ? self.duration.map { $0.value - duration(of: origin ?? 0) } : nil
            case .other: stated = isAudioOnly ? (try? ASFHeader(stream))?.duration : nil
            default: break
            }
            guard let stated, (stated / .seconds(1)) * Double(density) / 8 < Self.unknownByteCount else { return nil }
            return stated
        }

        /// Whether the index has packets that the file lacks. An edit list may leave out audio that is there.
        private func hasPacketsBeyond(_ byteCount: Int) -> Bool {
            let track = unsafe handle.pointee.streams[Int(streamIndex)]!
            let count = unsafe av.avformat_index_get_entries_count(track)
            guard count > 0, let last = unsafe av.avformat_index_get_entry(track, count - 1)?.pointee else {
                return false
            }
            return Self.isPacket(at: last.pos, Int(last.size), beyond: byteCount - stream.start)
        }

        /// Whether a packet of `byteCount` bytes at `offset`, which may be any number in a damaged file, ends after `end`.
        static func isPacket(at offset: Int64, _ byteCount: Int, beyond end: Int) -> Bool {
            Int(clamping: offset) > end - byteCount
        }
    }
#endif
