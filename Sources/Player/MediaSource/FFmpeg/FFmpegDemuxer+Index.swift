#if FFmpeg
    internal import CAV

    // FFmpeg seeks in Matroska without Cues for the audio, and in WavPack, by reading all bytes up to the position. These
    // functions find a place near the position first, and add it to FFmpeg's index of the stream. The C functions are
    // `avformat_index_get_entry_from_timestamp` and `av_add_index_entry`.
    extension FFmpegDemuxer {
        /// The distance of a seek point from the position at which it is near enough.
        private static let nearDuration = Duration.seconds(3)

        /// Makes FFmpeg's index contain a place near `requested`. Does nothing if the container has a better way to seek.
        func prepareIndex(for requested: Int64) throws(DemuxerError) {
            let finder: SeekPointFinder.Container
            switch container {
            case .matroska:
                loadCues()
                finder = .matroska
            case .wavPack: finder = .wavPack
            default: return
            }
            guard var place = entry(at: requested, AVSEEK_FLAG_BACKWARD) else { return }
            if requested - place.ticks > ticks(of: Self.nearDuration) {
                guard let high = entry(at: requested, 0) ?? endOfFile(after: requested) else { return }
                place = try find(requested, from: place, to: high, by: finder)
            }
            _ = unsafe av.av_add_index_entry(
                handle.pointee.streams[Int(streamIndex)]!, Int64(place.offset - stream.start), place.ticks, 0, 0,
                AVINDEX_KEYFRAME)
        }

        private func find(
            _ requested: Int64, from low: SeekPointFinder.Place, to high: SeekPointFinder.Place,
            by container: SeekPointFinder.Container
        ) throws(DemuxerError) -> SeekPointFinder.Place {
            var finder = SeekPointFinder(container, in: stream.byteSource)
            do {
                return try finder.place(of: requested, from: low, to: high, near: ticks(of: Self.nearDuration))
            } catch { throw .byteSource(error) }
        }

        /// The end of the file, with the timestamp of the end of the audio; nil if the length is unknown. With an unknown
        /// duration, the end is assumed to follow `requested`.
        private func endOfFile(after requested: Int64) -> SeekPointFinder.Place? {
            guard let byteCount = stream.byteSource.state.byteCount else { return nil }
            let end = (origin ?? 0).addingReportingOverflow(ticks(of: duration?.value ?? .zero)).partialValue
            return SeekPointFinder.Place(
                offset: byteCount, ticks: max(end, requested.addingReportingOverflow(1).partialValue))
        }

        /// Makes FFmpeg read the Cues at the end of the file, which it does in its first seek.
        private func loadCues() {
            guard !hasLoadedCues else { return }
            hasLoadedCues = true
            _ = unsafe av.av_seek_frame(handle, streamIndex, 0, AVSEEK_FLAG_BACKWARD)
            // An error is reported by the seek that follows.
            _ = stream.consumeFailure()
            stream.forgetEnd()
        }

        /// Returns the nearest place in FFmpeg's indices of all streams: at or before `requested`, or after it if
        /// `flags` is 0. Cues often are those of the pictures only.
        private func entry(at requested: Int64, _ flags: Int32) -> SeekPointFinder.Place? {
            var best: SeekPointFinder.Place?
            for index in unsafe 0..<Int(handle.pointee.nb_streams) {
                guard let other = unsafe handle.pointee.streams[index] else { continue }
                let base = unsafe other.pointee.time_base
                guard base.num > 0, base.den > 0 else { continue }
                let wanted = av.av_rescale_q(requested, timeBase, base)
                guard
                    let entry = unsafe av.avformat_index_get_entry_from_timestamp(
                        other, wanted, flags | AVSEEK_FLAG_ANY)?.pointee, entry.pos >= 0
                else { continue }
                let place = SeekPointFinder.Place(
                    offset: stream.start + Int(clamping: entry.pos),
                    ticks: av.av_rescale_q(entry.timestamp, base, timeBase))
                let isNearer = best.map { flags == 0 ? place.ticks < $0.ticks : place.ticks > $0.ticks } ?? true
                if isNearer { best = place }
            }
            return best
        }

        func seekByIndex(to requested: Int64) throws(DemuxerError) {
            let place = unsafe av.avio_seek(handle.pointee.pb, 0, 1)
            let result = unsafe av.av_seek_frame(handle, streamIndex, requested, AVSEEK_FLAG_BACKWARD)
            guard result < 0 else { return }
            if let failure = stream.consumeFailure() { throw .byteSource(failure) }
            // Seeks forward instead. The backward seek fails if the position lies before the first index entry.
            let other = unsafe av.av_seek_frame(handle, streamIndex, requested, 0)
            if let failure = stream.consumeFailure() { throw .byteSource(failure) }
            guard other >= 0 else {
                // FFmpeg has left the place where it read.
                _ = unsafe av.avio_seek(handle.pointee.pb, place, 0)
                throw .malformed(
                    "this file does not support seeking (\(ffmpegErrorText(result))): play it from its start, or convert it with ffmpeg first",
                    kind: .notSeekable)
            }
        }

        // MARK: FLAC

        /// The distances in bytes before the frame that is sought at which reading begins, until it succeeds. FFmpeg finds
        /// no frame where fewer than five precede a hole.
        private static let flacLeads = [0, 1 << 18, 1 << 20]

        /// The number of samples in each frame of FLAC but the last, if its frames are equally long; nil if it is unknown.
        var flacBlockSize: Int? {
            // STREAMINFO begins with the sizes of the smallest and the largest block.
            guard unsafe codec.handle.pointee.extradata_size >= 4, let header = unsafe codec.handle.pointee.extradata
            else { return nil }
            return unsafe Int(header[2]) << 8 | Int(header[3])
        }

        /// Seeks to a frame of FLAC near `requested` that lies before it, if there is one, and reads it. FFmpeg's own
        /// search fails in a hole or ends behind it, and takes more requests.
        func seekFLAC(to requested: Int64, blockSize: Int) throws(DemuxerError) {
            let index = seekPoints.firstIndex { $0.ticks > requested } ?? seekPoints.endIndex
            let low = index > 0 ? seekPoints[index - 1] : nil
            let next = seekPoints.indices.contains(index) ? seekPoints[index] : nil
            let first = SeekPointFinder.Place(offset: low?.offset ?? stream.start, ticks: low?.ticks ?? 0)
            var place = first
            let high = next.map { SeekPointFinder.Place(offset: $0.offset, ticks: $0.ticks) }
            if let high = high ?? endOfFile(after: requested) {
                place = try find(requested, from: first, to: high, by: .flac(blockSize: blockSize))
            }
            for lead in Self.flacLeads {
                try seek(toByte: max(place.offset - lead, first.offset))
                isPacketRead = try readPacket()
                let begin = unsafe packet.handle.pointee.pts
                if isPacketRead, begin != tenfour_av_no_timestamp(), begin <= requested { return }
            }
        }

        // MARK: Transport streams

        /// Seeks to a packet before `requested` that begins the audio's elementary stream anew. FFmpeg's own search takes
        /// more requests, and reads on from elsewhere if it fails.
        func seekTransportStream(to requested: Int64) throws(DemuxerError) {
            let first = SeekPointFinder.Place(offset: stream.start, ticks: origin ?? 0)
            var place = first
            if requested - first.ticks > ticks(of: Self.nearDuration), let end = endOfFile(after: requested) {
                let identifier = unsafe Int(handle.pointee.streams[Int(streamIndex)]?.pointee.id ?? 0)
                place = try find(
                    requested, from: first, to: end, by: .transportStream(identifier: identifier, origin: origin ?? 0))
            }
            try seek(toByte: place.offset)
        }

        private func seek(toByte offset: Int) throws(DemuxerError) {
            let result = unsafe av.av_seek_frame(handle, -1, Int64(offset - stream.start), AVSEEK_FLAG_BYTE)
            if let failure = stream.consumeFailure() { throw .byteSource(failure) }
            if result < 0 {
                throw .malformed(
                    "this file does not support seeking (\(ffmpegErrorText(result))): play it from its start, or convert it with ffmpeg first",
                    kind: .notSeekable)
            }
        }

        /// The numbers of bytes at the end of a transport stream in which its last audio is sought.
        private static let tails = [1 << 18, 1 << 21, 1 << 24]

        /// Returns the end of the last packet of a transport stream whose bytes are all here; nil if it is not found. Must
        /// be called before the first packet is read, and leaves it to be read.
        func endOfTransportStream() -> Duration? {
            guard stream.isHere, let byteCount = stream.byteSource.state.byteCount else { return nil }
            // The first packet tells FFmpeg before which timestamp a wrap is, and us where the audio begins.
            guard (try? readPacket()) == true else { return nil }
            defer {
                _ = unsafe av.av_seek_frame(handle, -1, 0, AVSEEK_FLAG_BYTE)
                _ = stream.consumeFailure()
            }
            for tail in Self.tails {
                let offset = max(byteCount - stream.start - tail, 0)
                guard unsafe av.av_seek_frame(handle, -1, Int64(offset), AVSEEK_FLAG_BYTE) >= 0 else { return nil }
                if let end = endOfPackets() { return end > 0 ? duration(of: end) : nil }
                if offset == 0 { return nil }
            }
            return nil
        }

        /// Reads to the end. Returns the end of the last packet; nil if no packet has a timestamp. Before decoding, FFmpeg
        /// does not know the duration of AAC packets, and gives only some of them timestamps: their mean distance counts.
        private func endOfPackets() -> Int64? {
            var (count, first, last): (Int64, (Int64, ticks: Int64)?, (Int64, ticks: Int64)?) = (0, nil, nil)
            var length: Int64 = 0
            while (try? readPacket()) == true {
                let begin = unsafe packet.handle.pointee.pts
                length = unsafe max(packet.handle.pointee.duration, 0)
                if begin != tenfour_av_no_timestamp(), begin.magnitude < 1 << 55 {
                    last = (count, begin)
                    first = first ?? last
                }
                count += 1
            }
            guard let first, let last else { return nil }
            if length == 0, last.0 > first.0 {
                let mean = Double(last.ticks - first.ticks) / Double(last.0 - first.0)
                return last.ticks + Int64((Double(count - last.0) * mean).rounded())
            }
            return last.ticks.addingReportingOverflow(length).partialValue
        }
    }
#endif
