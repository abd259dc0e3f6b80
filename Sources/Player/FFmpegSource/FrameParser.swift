#if FFmpeg
    internal import CAV
    public import TenfourMediaSource
    public import TenfourAudioCore

    /// Packets of MP3 and of AAC in ADTS, which are frames with nothing around them: parsed here and not by libavformat, which
    /// would read a file from its beginning to find a place in it.
    ///
    /// Where it has parsed from the beginning on, and where the bit rate is constant, it knows to the frame what lies where;
    /// elsewhere it guesses, says so, and puts it right when `scan` has got there.
    @safe
    public final class FrameParser: PacketSource {
        public private(set) var track: Track

        let codec: CodecParameters
        let packet: Packet
        let timeBase: AVRational
        let preroll: Duration

        private var stream: FrameStream
        private let vbr: VBRHeader?
        /// Frames in front of the sound, and where it ends, as the encoder says.
        private let lead: Int
        private let padding: Range<Int>
        private let packetFrames: Int

        private var next: FrameIndex.Entry
        /// After a guess: what was guessed. Packets count from there, right or wrong, until the next seek.
        private var guess: FrameIndex.Entry?
        private var shift = 0
        public private(set) var reach: Duration?
        private var hasEnded = false
        private var parsed = (byteCount: 0, frames: 0)

        /// `tag` lies in front.
        init(_ window: consuming ByteWindow, tag: ID3Tag) throws(ReaderError) {
            do {
                stream = try FrameStream(window, from: tag.byteCount)
                vbr = try stream.takeVBRHeader()
                next = stream.index.end
                if vbr?.packetCount == nil { try stream.lookAround() }
            } catch { throw .parse(error) }
            guard let packet = Packet(), let codec = CodecParameters() else {
                throw .undecodable(said(by: tenfour_av_no_memory()))
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
            // MP3 reaches back by 511 bytes, which are up to ten small frames; AAC by one frame.
            let packets = first.coding == .adts ? 3 : 12
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
                artist: tag.artist)
        }

        private static func codec(of coding: FrameHeader.Coding) -> AVCodecID {
            switch coding {
            case .layer1: AV_CODEC_ID_MP1
            case .layer2: AV_CODEC_ID_MP2
            case .layer3: AV_CODEC_ID_MP3
            case .adts: AV_CODEC_ID_AAC
            }
        }

        public var bitRate: Int? {
            parsed.frames > 0
                ? Int(Double(parsed.byteCount) * 8 * Double(stream.first.rate) / Double(parsed.frames)) : nil
        }

        // MARK: Packets

        public func nextPacket() throws(DemuxerError) -> PacketDescription? {
            while !hasEnded {
                guard let found = try stream.frame(at: next.offset) else { break }
                try stream.load(at: found.offset, count: found.header.byteCount)
                // The last one may be cut off.
                guard stream.window.bytes.count == found.header.byteCount else { break }
                guard packet.hold(stream.window.bytes) else { throw .malformed(said(by: tenfour_av_no_memory())) }
                let begin = next.frame
                if next.offset == stream.index.end.offset { stream.append(found) }
                next = FrameIndex.Entry(
                    offset: found.offset + found.header.byteCount, frame: begin + found.header.frameCount)
                parsed.byteCount += found.header.byteCount
                parsed.frames += found.header.frameCount
                var count = found.header.frameCount
                if guess == nil, padding.contains(next.frame - 1) {
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

        func soundLength(of decoded: Int, at hertz: Int32) -> Int {
            let told = unsafe av.av_rescale_q(packet.handle.pointee.duration, timeBase, AVRational(num: 1, den: hertz))
            return min(decoded, Int(clamping: told))
        }

        func learn(_ format: LPCMFormat) { track.format = format }

        // MARK: Time

        public var duration: Estimate<Duration>? {
            if stream.index.isComplete {
                let frames = stream.index.end.frame
                return Estimate(
                    time(of: padding.upperBound == frames && frames > 0 ? padding.lowerBound : frames), isExact: true)
            }
            if let packets = toldPacketCount {
                return Estimate(time(of: padding.isEmpty ? packets * packetFrames : padding.lowerBound), isExact: true)
            }
            guard let course else { return nil }
            return Estimate(time(of: Self.frame(course.end.frame)), isExact: false)
        }

        var correction: Duration { FrameCount(shift).duration(at: SampleRate(hertz: stream.first.rate)) }
        var isExact: Bool { guess == nil }

        /// What a server says of the length may lead anywhere.
        private static func frame(_ guess: Double) -> Int { Int(min(guess, 1e15)) }

        private func time(of frame: Int) -> Duration {
            FrameCount(max(frame - lead, 0)).duration(at: SampleRate(hertz: stream.first.rate))
        }

        /// What the encoder says, unless the file is plainly another one by now: cut off, or two put together.
        private var toldPacketCount: Int? {
            guard let packets = vbr?.packetCount else { return nil }
            guard let told = vbr?.byteCount, let byteCount = stream.download.state.byteCount else { return packets }
            let real = byteCount - stream.begin
            return abs(real - told) <= min(real, told) / 16 ? packets : nil
        }

        /// nil where the end is not known.
        private var course: FrameCourse? {
            guard let byteCount = stream.download.state.byteCount else { return nil }
            let end = max(byteCount, stream.index.end.offset)
            if let packets = toldPacketCount, let vbr, vbr.contents.count == 100 {
                let bytes = Double(vbr.byteCount ?? byteCount - stream.begin)
                let points = vbr.contents.enumerated().map { percent, part in
                    (
                        offset: Double(stream.begin) + bytes * Double(part) / 256,
                        frame: Double(packets * packetFrames) * Double(percent) / 100
                    )
                }
                let known = stream.index.end
                return FrameCourse(
                    [(Double(known.offset), Double(known.frame))] + points
                        + [(Double(end), Double(packets * packetFrames))])
            }
            return FrameCourse(from: stream.index.end, to: end, density: stream.density, samples: stream.samples)
        }

        // MARK: Seeking

        public func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration> {
            let rate = SampleRate(hertz: stream.first.rate)
            let wanted = max(FrameCount(position, at: rate).rawValue, -lead) + lead
            let limit = try liveLimit(for: wanted)
            (hasEnded, guess, shift) = (false, nil, 0)
            // As in every seek the decoder needs the frames before, but only those that have arrived.
            reach = limit.map {
                let heard = min(
                    $0 + FrameCount(preroll, at: rate).rawValue, stream.index.end.frame - stream.first.rate / 2)
                return time(of: max(heard, $0))
            }
            next = try place(of: limit ?? wanted)
            return Estimate(max(FrameCount(next.frame - lead).duration(at: rate), .zero), isExact: guess == nil)
        }

        /// The last frame to which a seek in a live stream can go: a second before the newest that has arrived, so that
        /// sound comes at once. nil where `wanted` lies before it.
        private func liveLimit(for wanted: Int) throws(DemuxerError) -> Int? {
            guard stream.download.state.isLive, wanted >= stream.index.end.frame else { return nil }
            try stream.scanWhatIsHere(to: wanted)
            let limit = max(stream.index.end.frame - stream.first.rate, next.frame)
            return wanted > limit && !stream.index.isComplete ? limit : nil
        }

        private func place(of wanted: Int) throws(DemuxerError) -> FrameIndex.Entry {
            if wanted < stream.index.end.frame || stream.index.isComplete { return try stream.indexedPlace(of: wanted) }
            guard stream.download.state.isSeekable, stream.download.state.byteCount != nil else {
                // Only by parsing on.
                _ = try stream.scan(to: wanted)
                return try stream.indexedPlace(of: wanted)
            }
            _ = try stream.scan(to: min(wanted, FrameStream.trustedPacketCount * packetFrames))
            if let found = try stream.constantPlace(of: wanted) { return found }
            if let course, stream.isHere(upTo: Int(course.offset(of: Double(wanted)))) {
                _ = try stream.scan(to: wanted, before: stream.index.end.offset + FrameStream.scannedByteCount)
            }
            if wanted < stream.index.end.frame || stream.index.isComplete { return try stream.indexedPlace(of: wanted) }
            if toldPacketCount == nil || vbr?.contents.isEmpty != false {
                try stream.sample(for: .milliseconds(100))
            }
            guard let course else { return stream.index.end }
            let offset = max(Int(course.offset(of: Double(wanted))), stream.index.end.offset)
            guard let found = try stream.synchronize(from: offset, followers: 2) else {
                return FrameIndex.Entry(
                    offset: stream.download.state.byteCount ?? offset, frame: Self.frame(course.end.frame))
            }
            let landed = FrameIndex.Entry(
                offset: found.offset, frame: Self.frame(course.frame(at: Double(found.offset))))
            guess = landed
            return landed
        }

        public func scan(for time: Duration) throws(DemuxerError) -> Bool {
            guard stream.download.state.isSeekable, !stream.index.isComplete else { return true }
            let isComplete = try stream.scan(to: .max, until: ContinuousClock.now + time)
            if let guess, stream.index.end.offset > guess.offset {
                let real = try stream.indexedPlace(ofByte: guess.offset)
                shift = real.frame - guess.frame
                self.guess = nil
            }
            return isComplete
        }
    }
#endif
