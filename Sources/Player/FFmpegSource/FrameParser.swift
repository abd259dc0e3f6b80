#if FFmpeg
    internal import CAV
    public import TenfourMediaSource
    public import TenfourAudioCore

    /// Demuxes MP3, ADTS AAC, AC-3 and E-AC-3, which have no container. libavformat is not used, since it reads such a file from the
    /// start to seek in it. Over HTTP this would mean a complete download.
    ///
    /// Positions are exact where the file has been parsed from the start, or with a constant bit rate. Elsewhere they
    /// are estimates, which `scan` corrects later.
    @safe
    public final class FrameParser: FFmpegPacketSource {
        public private(set) var track: Track

        let codec: CodecParameters
        let packet: Packet
        let timeBase: AVRational
        let preroll: Duration

        private var stream: FrameStream
        private let vbr: VBRHeader?
        /// The encoder delay as stated by the encoder, plus the decoder's own delay, in frames; 0 if no delay is
        /// stated.
        private let lead: Int
        /// The frames of the padding at the end, as stated by the encoder; empty if no padding is stated.
        private let padding: Range<Int>
        /// The number of frames per packet.
        private let packetFrames: Int

        private var next: FrameIndex.Entry
        /// The estimated position of the last seek; nil if it was exact. Until the next seek, packet positions count
        /// from this estimate.
        private var estimate: FrameIndex.Entry?
        /// The number of frames to add to positions after an estimated seek; 0 until the error of the estimate is
        /// known.
        private var shift = 0
        public private(set) var reach: Duration?
        private var hasEnded = false
        private var parsed = (byteCount: 0, frames: 0)

        /// Finds the first frame in `window`. `tag` is the ID3 tag before the audio.
        init(_ window: consuming ByteWindow, tag: ID3Tag) throws(ReaderError) {
            do {
                stream = try FrameStream(window, from: tag.byteCount)
                vbr = try stream.readVBRHeader()
                next = stream.index.end
                if vbr?.packetCount == nil { try stream.estimateFromBuffer() }
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
            timeBase = AVRational(num: 1, den: Int32(first.rate))
            packetFrames = first.frameCount
            // The preroll of MP3 is 12 packets: its bit reservoir reaches back 511 bytes, up to ten small frames. That of
            // the others is 3 packets, since each frame overlaps its neighbour.
            let packets = [.adts, .ac3, .eac3].contains(first.coding) ? 3 : 12
            preroll = FrameCount(packets * first.frameCount).duration(at: SampleRate(hertz: first.rate))
            let whole = (vbr?.packetCount ?? 0) * first.frameCount
            if let delay = vbr?.delay {
                lead = delay.front + VBRHeader.decoderDelay
                let end = whole - max(delay.behind - VBRHeader.decoderDelay, 0)
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

        public var isBitRateExact: Bool { stream.index.isComplete && stream.index.end.frame > 0 }

        public var bitRate: Int? {
            if isBitRateExact {
                let byteCount = stream.index.end.offset - stream.index.entries[0].offset
                return Int(Double(byteCount) * 8 * Double(stream.first.rate) / Double(stream.index.end.frame))
            }
            return parsed.frames > 0
                ? Int(Double(parsed.byteCount) * 8 * Double(stream.first.rate) / Double(parsed.frames)) : nil
        }

        // MARK: Packets

        public func nextPacket() throws(DemuxerError) -> PacketDescription? {
            while !hasEnded {
                guard let found = try stream.frame(at: next.offset) else { break }
                try stream.load(at: found.offset, count: found.header.byteCount)
                // Ends if the frame is truncated, as the last frame may be.
                guard stream.window.bytes.count == found.header.byteCount else { break }
                guard packet.hold(stream.window.bytes) else {
                    throw .malformed(ffmpegErrorText(tenfour_av_no_memory()), kind: .resourcesExhausted)
                }
                let begin = next.frame
                if next.offset == stream.index.end.offset { stream.append(found) }
                next = FrameIndex.Entry(
                    offset: found.offset + found.header.byteCount, frame: begin + found.header.frameCount)
                parsed.byteCount += found.header.byteCount
                parsed.frames += found.header.frameCount
                // The decoder gets only the frames that play on their own.
                if found.header.frameCount == 0 { continue }
                var count = found.header.frameCount
                if estimate == nil, padding.contains(next.frame - 1) {
                    count = max(padding.lowerBound - begin, 0)
                    if count == 0 { continue }
                }
                unsafe packet.handle.pointee.pts = Int64(begin - lead)
                unsafe packet.handle.pointee.dts = Int64(begin - lead)
                unsafe packet.handle.pointee.duration = Int64(count)
                return PacketDescription(
                    offset: found.offset, byteCount: found.header.byteCount,
                    frameCount: FrameCount(count * track.format.rate.hertz / stream.first.rate))
            }
            hasEnded = true
            if next.offset == stream.index.end.offset { stream.index.complete() }
            return nil
        }

        func audibleFrameCount(of decoded: Int, at hertz: Int32) -> Int {
            let stated = unsafe av.av_rescale_q(
                packet.handle.pointee.duration, timeBase, AVRational(num: 1, den: hertz))
            return min(decoded, Int(clamping: stated))
        }

        func updateFormat(_ format: LPCMFormat) { track.format = format }

        // MARK: Time

        public var duration: Estimate<Duration>? {
            if stream.index.isComplete {
                let frames = stream.index.end.frame
                return Estimate(
                    time(of: padding.upperBound == frames && frames > 0 ? padding.lowerBound : frames), isExact: true)
            }
            if let packets = headerPacketCount {
                return Estimate(time(of: padding.isEmpty ? packets * packetFrames : padding.lowerBound), isExact: true)
            }
            guard let byteFrameMap else { return nil }
            return Estimate(time(of: Self.frame(byteFrameMap.end.frame)), isExact: false)
        }

        var correction: Duration { FrameCount(shift).duration(at: SampleRate(hertz: stream.first.rate)) }
        var isExact: Bool { estimate == nil }

        /// Limits an estimate, because the length stated by a server is not trusted.
        private static func frame(_ estimate: Double) -> Int { Int(min(estimate, 1e15)) }

        private func time(of frame: Int) -> Duration {
            FrameCount(max(frame - lead, 0)).duration(at: SampleRate(hertz: stream.first.rate))
        }

        /// The number of packets that the encoder stated; nil if it stated none, or if the file was evidently truncated
        /// later or joined with another file.
        private var headerPacketCount: Int? {
            guard let packets = vbr?.packetCount else { return nil }
            guard let stated = vbr?.byteCount, let byteCount = stream.byteSource.state.byteCount else { return packets }
            let real = byteCount - stream.begin
            return abs(real - stated) <= min(real, stated) / 16 ? packets : nil
        }

        /// The estimated mapping between bytes and frames; nil if the end is unknown.
        private var byteFrameMap: ByteFrameMap? {
            guard let byteCount = stream.byteSource.state.byteCount else { return nil }
            let end = max(byteCount, stream.index.end.offset)
            if let packets = headerPacketCount, let vbr, vbr.contents.count == 100 {
                let bytes = Double(vbr.byteCount ?? byteCount - stream.begin)
                let points = vbr.contents.enumerated().map { percent, part in
                    (
                        offset: Double(stream.begin) + bytes * Double(part) / 256,
                        frame: Double(packets * packetFrames) * Double(percent) / 100
                    )
                }
                let known = stream.index.end
                return ByteFrameMap(
                    [(Double(known.offset), Double(known.frame))] + points
                        + [(Double(end), Double(packets * packetFrames))])
            }
            return ByteFrameMap(from: stream.index.end, to: end, density: stream.density, samples: stream.samples)
        }

        // MARK: Seeking

        public func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration> {
            let rate = SampleRate(hertz: stream.first.rate)
            let requested = max(FrameCount(position, at: rate).rawValue, -lead) + lead
            let limit = try liveLimit(for: requested)
            (hasEnded, estimate, shift) = (false, nil, 0)
            // If the seek cannot reach `requested`, `reach` is the position of the first audio that will be heard. The
            // decoder's preroll after the limit is not played, so this audio begins later than the limit by the
            // preroll. It begins earlier if too few bytes have arrived.
            reach = limit.map {
                let heard = min(
                    $0 + FrameCount(preroll, at: rate).rawValue, stream.index.end.frame - stream.first.rate / 2)
                return time(of: max(heard, $0))
            }
            next = try place(of: limit ?? requested)
            return Estimate(max(FrameCount(next.frame - lead).duration(at: rate), .zero), isExact: estimate == nil)
        }

        /// Returns the last frame that a seek in a live stream can reach: one second before the newest frame, so that
        /// audio follows immediately. nil if `requested` can be reached.
        private func liveLimit(for requested: Int) throws(DemuxerError) -> Int? {
            guard stream.byteSource.state.isLive, requested >= stream.index.end.frame else { return nil }
            try stream.scanArrived(to: requested)
            let limit = max(stream.index.end.frame - stream.first.rate, next.frame)
            return requested > limit && !stream.index.isComplete ? limit : nil
        }

        private func place(of requested: Int) throws(DemuxerError) -> FrameIndex.Entry {
            if requested < stream.index.end.frame || stream.index.isComplete {
                return try stream.indexedPlace(of: requested)
            }
            guard stream.byteSource.state.isSeekable, stream.byteSource.state.byteCount != nil else {
                // Parses everything up to the position, the only way in a stream without random access.
                _ = try stream.scan(to: requested)
                return try stream.indexedPlace(of: requested)
            }
            _ = try stream.scan(to: min(requested, FrameStream.trustedPacketCount * packetFrames))
            if let found = try stream.constantPlace(of: requested) { return found }
            if let byteFrameMap, stream.isBuffered(upTo: Int(byteFrameMap.offset(of: Double(requested)))) {
                _ = try stream.scan(to: requested, before: stream.index.end.offset + FrameStream.scannedByteCount)
            }
            if requested < stream.index.end.frame || stream.index.isComplete {
                return try stream.indexedPlace(of: requested)
            }
            if headerPacketCount == nil || vbr?.contents.isEmpty != false {
                try stream.sample(for: .milliseconds(100))
            }
            guard let byteFrameMap else { return stream.index.end }
            let offset = max(Int(byteFrameMap.offset(of: Double(requested))), stream.index.end.offset)
            guard let found = try stream.synchronize(from: offset, followers: 2) else {
                return FrameIndex.Entry(
                    offset: stream.byteSource.state.byteCount ?? offset, frame: Self.frame(byteFrameMap.end.frame))
            }
            let landed = FrameIndex.Entry(
                offset: found.offset, frame: Self.frame(byteFrameMap.frame(at: Double(found.offset))))
            estimate = landed
            return landed
        }

        public func scan(for time: Duration) throws(DemuxerError) -> Bool {
            guard stream.byteSource.state.isSeekable, !stream.index.isComplete else { return true }
            let isComplete = try stream.scan(to: .max, until: ContinuousClock.now + time)
            if let estimate, stream.index.end.offset > estimate.offset {
                let real = try stream.indexedPlace(ofByte: estimate.offset)
                shift = real.frame - estimate.frame
                self.estimate = nil
            }
            return isComplete
        }
    }
#endif
