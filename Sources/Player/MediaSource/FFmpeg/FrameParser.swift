#if FFmpeg
    internal import CAV
    package import TenfourAudioCore

    /// Demuxes MP3, ADTS AAC, AC-3 and E-AC-3, which have no container, since libavformat seeks in them worse. Measured
    /// with a seek to 25:00 in half an hour, over HTTP at 500 kB/s with 0.1 s per request (libavformat 59 with its
    /// fast-seek flag and Xing table, then this):
    ///
    ///     variable MP3 without a header   0.6 s, 343 s beside the position    1.4 s, 87 s beside it, shown as a guess
    ///     variable MP3 with a Xing header 0.5 s, 3.2 s beside it              0.4 s, 0.7 s beside it
    ///     ADTS                            35.6 s and 16.7 MB                  1.4 s and 0.4 MB, shown as a guess
    ///
    /// Positions are exact where the file has been parsed from the start, or with a constant bit rate. Elsewhere they
    /// are estimates, which `scan` corrects later.
    @safe
    package final class FrameParser: FFmpegPacketSource {
        package private(set) var track: Track

        let codec: CodecParameters
        let packet: Packet
        let timeBase: AVRational
        let preroll: Duration

        private var stream: FrameStream
        private let vbr: VBRHeader?
        /// The encoder delay as stated by the encoder, plus the decoder's own delay, in ticks; 0 if no delay is
        /// stated.
        private let lead: Int
        /// The ticks of the padding at the end, as stated by the encoder; empty if no padding is stated.
        private let padding: Range<Int>
        /// The duration of the first packet in ticks.
        private let packetDuration: Int

        private var next: FrameIndex.Entry
        /// The estimated position of the last seek; nil if it was exact. Until the next seek, packet positions count
        /// from this estimate.
        private var estimate: FrameIndex.Entry?
        /// The number of ticks to add to positions after an estimated seek; 0 until the error of the estimate is
        /// known.
        private var shift = 0
        package private(set) var reach: Duration?
        private var hasEnded = false
        var missing = MissingAudio()
        private var parsed = (byteCount: 0, time: 0)

        /// The clock of positions.
        private static let ticks = SampleRate(hertz: FrameHeader.ticksPerSecond)

        /// Begins at the frame `found` in `window`. `tag` is the ID3 tag before the audio.
        init(_ window: consuming ByteWindow, from found: FrameStream.Found, tag: ID3Tag) throws(ReaderError) {
            do {
                stream = FrameStream(window, from: found)
                vbr = try stream.readVBRHeader()
                next = stream.index.end
                try stream.estimateFromBuffer()
            } catch { throw .demuxer(error) }
            guard let packet = Packet(), let codec = CodecParameters() else {
                throw .undecodable(ffmpegErrorText(tenfour_av_no_memory()), kind: .resourcesExhausted)
            }
            self.packet = packet
            self.codec = codec
            let first = stream.first
            unsafe codec.handle.pointee.codec_type = AVMEDIA_TYPE_AUDIO
            unsafe codec.handle.pointee.codec_id = Self.codec(of: first.coding)
            unsafe codec.handle.pointee.sample_rate = Int32(first.rate)
            unsafe av.av_channel_layout_default(&codec.handle.pointee.ch_layout, Int32(first.channelCount))
            timeBase = AVRational(num: 1, den: Int32(FrameHeader.ticksPerSecond))
            packetDuration = first.duration
            // The preroll of MP3 is 12 packets: its bit reservoir reaches back 511 bytes, up to ten small frames. That of
            // the others is 3 packets, since each frame overlaps its neighbour.
            let packets = [.adts, .ac3, .eac3].contains(first.coding) ? 3 : 12
            preroll = FrameCount(packets * first.duration).duration(at: Self.ticks)
            let whole = (Self.packetCount(of: vbr, in: stream) ?? 0) * first.duration
            if let delay = vbr?.delay {
                lead = (delay.front + VBRHeader.decoderDelay) * first.sampleDuration
                let end = whole - max(delay.behind - VBRHeader.decoderDelay, 0) * first.sampleDuration
                padding = whole > 0 && end > lead ? end..<whole : 0..<0
            } else {
                lead = 0
                padding = 0..<0
            }
            track = Track(
                codec: codec.name,
                format: LPCMFormat(rate: SampleRate(hertz: first.rate), channelCount: first.channelCount),
                title: tag.title,
                artist: tag.artist, album: tag.album)
            (track.chapters, track.pictures, track.gain) = (tag.chapters, tag.pictures, tag.gain)
        }

        private static func codec(of coding: FrameHeader.Coding) -> AVCodecID {
            switch coding {
            case .layer1: AV_CODEC_ID_MP1
            case .layer2: AV_CODEC_ID_MP2
            case .layer3: AV_CODEC_ID_MP3
            case .adts: AV_CODEC_ID_AAC
            case .ac3: AV_CODEC_ID_AC3
            case .eac3: AV_CODEC_ID_EAC3
            }
        }

        package var isBitRateExact: Bool { stream.index.isComplete && stream.index.end.time > 0 }

        package var bitRate: Int? {
            if isBitRateExact {
                let byteCount = stream.index.end.offset - stream.index.entries[0].offset
                return Int(Double(byteCount) * 8 * Double(FrameHeader.ticksPerSecond) / Double(stream.index.end.time))
            }
            return parsed.time > 0
                ? Int(Double(parsed.byteCount) * 8 * Double(FrameHeader.ticksPerSecond) / Double(parsed.time)) : nil
        }

        // MARK: Packets

        package func nextPacket() throws(DemuxerError) -> PacketDescription? {
            while !hasEnded {
                guard let found = try stream.frame(at: next.offset) else { break }
                if found.offset > next.offset { try findHole(before: found.offset) }
                try stream.load(at: found.offset, count: found.header.byteCount)
                // Ends if the frame is truncated, as the last frame may be.
                guard stream.window.bytes.count == found.header.byteCount else { break }
                guard packet.hold(stream.window.bytes) else {
                    throw .malformed(ffmpegErrorText(tenfour_av_no_memory()), kind: .resourcesExhausted)
                }
                let begin = next.time
                if next.offset == stream.index.end.offset { stream.append(found) }
                next = FrameIndex.Entry(
                    offset: found.offset + found.header.byteCount, time: begin + found.header.duration)
                parsed.byteCount += found.header.byteCount
                parsed.time += found.header.duration
                // The decoder gets only the frames that play on their own.
                if found.header.frameCount == 0 { continue }
                var duration = found.header.duration
                if estimate == nil, padding.contains(next.time - 1), isAtStatedEnd(next.offset) {
                    duration = max(padding.lowerBound - begin, 0)
                    if duration == 0 { continue }
                }
                unsafe packet.handle.pointee.pts = Int64(begin - lead)
                unsafe packet.handle.pointee.dts = Int64(begin - lead)
                unsafe packet.handle.pointee.duration = Int64(duration)
                return PacketDescription(
                    offset: found.offset, byteCount: found.header.byteCount,
                    frameCount: FrameCount(duration / max(FrameHeader.ticksPerSecond / track.format.rate.hertz, 1)))
            }
            if !hasEnded { try findEnd() }
            hasEnded = true
            if next.offset == stream.index.end.offset { stream.index.complete() }
            return nil
        }

        /// Records a hole between the packet before and the frame at `offset`.
        private func findHole(before offset: Int) throws(DemuxerError) {
            // Tags in between are read again.
            guard stream.byteSource.hasEnd, stream.byteSource.state.isSeekable else { return }
            let damaged = try stream.untaggedByteCount(in: next.offset..<offset)
            // Positions count only the frames.
            let (begin, length) = (time(of: next.time), duration(of: damaged))
            if length >= MissingAudio.shortestHole { missing.addHole(at: begin, lasting: length, until: begin) }
        }

        /// Records what is missing at the end: bytes that belong to no frame, and frames that the VBR header states.
        private func findEnd() throws(DemuxerError) {
            guard stream.byteSource.hasEnd, let byteCount = stream.byteSource.state.byteCount else { return }
            let end = stream.byteSource.state.isSeekable ? max(byteCount, next.offset) : next.offset
            let rest = try stream.untaggedByteCount(in: next.offset..<end)
            if duration(of: rest) >= MissingAudio.shortestHole, try !stream.isPadding(after: next.offset, rest) {
                missing.leaveOut(rest, at: time(of: next.time))
            }
            guard rest < FrameHeader.longest, let vbr, let packets = vbr.packetCount, let stated = vbr.byteCount,
                packets < 1 << 32, stated > byteCount - stream.begin, stream.index.end.offset == next.offset
            else { return }
            missing.endEarly(at: time(of: next.time), stated: time(of: packets * packetDuration))
        }

        /// The duration of as many bytes of this stream, by the frames read so far.
        private func duration(of byteCount: Int) -> Duration {
            let density = parsed.byteCount > 0 ? Double(parsed.time) / Double(parsed.byteCount) : stream.density
            return FrameCount(Int(min(Double(byteCount) * density, 1e17))).duration(at: Self.ticks)
        }

        /// Whether the bytes that the encoder stated end at about `offset`, so that the padding is that of the end.
        private func isAtStatedEnd(_ offset: Int) -> Bool {
            guard let stated = vbr?.byteCount else { return true }
            return offset - stream.begin >= stated - 2 * FrameHeader.longest
        }

        func audibleFrameCount(of decoded: Int, at hertz: Int32) -> Int {
            let stated = unsafe av.av_rescale_q(
                packet.handle.pointee.duration, timeBase, AVRational(num: 1, den: hertz))
            return min(decoded, Int(clamping: stated))
        }

        func updateFormat(_ format: LPCMFormat) { track.format = format }

        // MARK: Time

        package var duration: Estimate<Duration>? {
            if stream.index.isComplete {
                let end = stream.index.end.time
                return Estimate(
                    time(of: padding.upperBound == end && end > 0 ? padding.lowerBound : end), isExact: true)
            }
            if let packets = headerPacketCount {
                return Estimate(
                    time(of: padding.isEmpty ? packets * packetDuration : padding.lowerBound), isExact: true)
            }
            guard let byteTimeMap else { return nil }
            return Estimate(time(of: Self.ticks(byteTimeMap.end.time)), isExact: false)
        }

        var correction: Duration { FrameCount(shift).duration(at: Self.ticks) }
        var isExact: Bool { estimate == nil }

        /// Limits an estimate, because the length stated by a server is not trusted.
        private static func ticks(_ estimate: Double) -> Int { Int(min(estimate, 1e17)) }

        private func time(of ticks: Int) -> Duration {
            FrameCount(max(ticks - lead, 0)).duration(at: Self.ticks)
        }

        /// The number of packets that the encoder stated; nil if it stated none, or if the bytes tell another number.
        private var headerPacketCount: Int? { Self.packetCount(of: vbr, in: stream) }

        /// Returns the number of packets in the header `vbr`; nil if there is none, or if it is evidently wrong: the file
        /// was truncated later, joined with another file, or cut out of a radio programme.
        private static func packetCount(of vbr: VBRHeader?, in stream: borrowing FrameStream) -> Int? {
            guard let packets = vbr?.packetCount, packets > 0, packets < 1 << 32 else { return nil }
            let stated = packets * stream.first.duration
            // A radio station has no length, whatever the file at its beginning states.
            guard stream.index.end.time <= stated, !stream.byteSource.state.isLive else { return nil }
            guard let byteCount = stream.byteSource.state.byteCount else { return packets }
            let real = byteCount - stream.begin
            if let bytes = vbr?.byteCount, abs(real - bytes) > min(real, bytes) / 16 { return nil }
            if real / packets > stream.first.longestFrame { return nil }
            guard !stream.samples.isEmpty else { return packets }
            let end = ByteTimeMap(
                from: stream.index.end, to: byteCount, density: stream.density, samples: stream.samples
            ).end.time
            return abs(end - Double(stated)) <= Double(stated) / 4 ? packets : nil
        }

        /// The estimated mapping between bytes and positions; nil if the end is unknown.
        private var byteTimeMap: ByteTimeMap? {
            guard let byteCount = stream.byteSource.state.byteCount else { return nil }
            let end = max(byteCount, stream.index.end.offset)
            if let packets = headerPacketCount, let vbr, vbr.contents.count == 100 {
                let bytes = Double(vbr.byteCount ?? byteCount - stream.begin)
                let points = vbr.contents.enumerated().map { percent, part in
                    (
                        offset: Double(stream.begin) + bytes * Double(part) / 256,
                        time: Double(packets * packetDuration) * Double(percent) / 100
                    )
                }
                let known = stream.index.end
                return ByteTimeMap(
                    [(Double(known.offset), Double(known.time))] + points
                        + [(Double(end), Double(packets * packetDuration))])
            }
            return ByteTimeMap(from: stream.index.end, to: end, density: stream.density, samples: stream.samples)
        }

        // MARK: Seeking

        package func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration> {
            let rate = Self.ticks
            let requested = max(FrameCount(position, at: rate).rawValue, -lead) + lead
            let limit = try liveLimit(for: requested)
            (hasEnded, estimate, shift) = (false, nil, 0)
            missing = MissingAudio()
            // If the seek cannot reach `requested`, `reach` is the position of the first audio that will be heard. The
            // decoder's preroll after the limit is not played, so this audio begins later than the limit by the
            // preroll. It begins earlier if too few bytes have arrived.
            reach = limit.map {
                let heard = min(
                    $0 + FrameCount(preroll, at: rate).rawValue, stream.index.end.time - rate.hertz / 2)
                return time(of: max(heard, $0))
            }
            next = try place(of: limit ?? requested)
            return Estimate(max(FrameCount(next.time - lead).duration(at: rate), .zero), isExact: estimate == nil)
        }

        /// Returns the last position that a seek in a live stream can reach: one second before the newest frame, so that
        /// audio follows immediately. nil if `requested` can be reached.
        private func liveLimit(for requested: Int) throws(DemuxerError) -> Int? {
            guard stream.byteSource.state.isLive, requested >= stream.index.end.time else { return nil }
            try stream.scanArrived(to: requested)
            let limit = max(stream.index.end.time - FrameHeader.ticksPerSecond, next.time)
            return requested > limit && !stream.index.isComplete ? limit : nil
        }

        private func place(of requested: Int) throws(DemuxerError) -> FrameIndex.Entry {
            if requested < stream.index.end.time || stream.index.isComplete {
                return try stream.indexedPlace(of: requested)
            }
            guard stream.byteSource.state.isSeekable, stream.byteSource.state.byteCount != nil else {
                // Parses everything up to the position, the only way in a stream without random access.
                _ = try stream.scan(to: requested)
                return try stream.indexedPlace(of: requested)
            }
            _ = try stream.scan(to: min(requested, FrameStream.trustedPacketCount * packetDuration))
            if let found = try stream.constantPlace(of: requested) { return found }
            if let byteTimeMap, stream.isBuffered(upTo: Int(byteTimeMap.offset(of: Double(requested)))) {
                _ = try stream.scan(to: requested, before: stream.index.end.offset + FrameStream.scannedByteCount)
            }
            if requested < stream.index.end.time || stream.index.isComplete {
                return try stream.indexedPlace(of: requested)
            }
            if headerPacketCount == nil || vbr?.contents.isEmpty != false {
                try stream.sample(for: .milliseconds(100))
                // After few measurements the estimated end may come too early, and the audio would end here.
                if let end = byteTimeMap?.end.time, Double(requested) >= end {
                    try stream.sample(for: .zero, patience: .seconds(10))
                }
            }
            guard let byteTimeMap else { return stream.index.end }
            let offset = max(Int(byteTimeMap.offset(of: Double(requested))), stream.index.end.offset)
            guard let found = try stream.synchronize(from: offset, followers: 2) else {
                return FrameIndex.Entry(
                    offset: stream.byteSource.state.byteCount ?? offset, time: Self.ticks(byteTimeMap.end.time))
            }
            let landed = FrameIndex.Entry(
                offset: found.offset, time: Self.ticks(byteTimeMap.time(at: Double(found.offset))))
            estimate = landed
            return landed
        }

        package func scan(for time: Duration) throws(DemuxerError) -> Bool {
            guard stream.byteSource.state.isSeekable, !stream.index.isComplete else { return true }
            let isComplete = try stream.scan(to: .max, until: ContinuousClock.now + time)
            if let estimate, stream.index.end.offset > estimate.offset {
                let real = try stream.indexedPlace(ofByte: estimate.offset)
                shift = real.time - estimate.time
                self.estimate = nil
            }
            return isComplete
        }
    }
#endif
