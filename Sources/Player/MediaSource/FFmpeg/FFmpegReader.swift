#if FFmpeg
    internal import CAV
    internal import TenfourResampling
    package import TenfourAudioCore

    /// Decodes by libavcodec and converts by libswresample.
    ///
    /// Trims the codec's start-up and the padding of the last packet if the file states their lengths.
    @safe
    package final class FFmpegReader: MediaReader {
        package let format: LPCMFormat
        /// The number of packets that could not be decoded, since the start.
        package private(set) var damagedPacketCount = 0

        private let source: any FFmpegPacketSource
        private var decoder: Decoder
        private var converter: Converter?
        private var state = State.reading
        private var damagedInARow = 0
        /// The packets that were not decoded since the last frame; nil if there is none.
        private var undecoded: Undecoded?
        /// The length of the last frame, zero before the first one.
        private var frameLength = Duration.zero
        private var hasDecoded = false
        /// The decoder's sample rate.
        private var rate = SampleRate.opus
        /// The audio frames (one sample per channel) of the decoder's present `AVFrame` that are still to be converted.
        private var rest = 0..<0
        private let converted: ConvertedAudio

        private enum State { case reading, draining, ended }

        /// Packets that were not decoded. Not every packet states its duration, and one may state that of all.
        private struct Undecoded {
            /// The position of the first one.
            var begin: Duration
            /// The sum of their durations.
            var stated = Duration.zero
            /// The same if each is as long as the frame before them.
            var likely = Duration.zero
            var length: Duration { max(stated, likely) }
        }

        /// The number of consecutive undecodable packets after which reading fails.
        private static let damageLimit = 2_000
        /// The number of consecutive undecodable packets after which a new decoder is made.
        private static let renewalInterval = 20

        package var demuxer: any Demuxer { source }

        /// Creates a reader. Blocks until the first audio is decoded, since `track` states the format, and for some
        /// codecs only the decoder knows it.
        init(_ source: any FFmpegPacketSource, format: LPCMFormat?) throws(ReaderError) {
            self.source = source
            decoder = try Decoder(source.codec, timeBase: source.timeBase)
            // Decodes the first frame now if the format is unknown: a transport stream does not state the sample rate,
            // which only the decoder knows.
            let isUnknown = format == nil && source.codec.format == nil
            let hasFrame = isUnknown ? try Self.decodeFirst(source, decoder) : false
            self.format = format ?? (hasFrame ? unsafe Self.format(of: decoder.frame) : nil) ?? source.track.format
            converted = ConvertedAudio(self.format)
            if hasFrame { try locateFrame() }
            guard try refill() else {
                throw .demuxer(.malformed("this file contains no audio: name another file", kind: .notAudio))
            }
        }

        package var sampleWidth: SampleWidth? { decoder.sampleWidth }

        package var position: Estimate<Duration> {
            Estimate(max(converted.position + source.correction, .zero), isExact: source.isExact)
        }

        package func read(into samples: inout MutableSpan<Float>) throws(ReaderError) -> FrameCount {
            try converted.read(into: &samples) { () throws(ReaderError) in try refill() }
        }

        package func seek(to position: Duration) throws(ReaderError) -> Estimate<Duration> {
            let fresh: Decoder? = decoder.forgetsAll ? nil : try Decoder(source.codec, timeBase: source.timeBase)
            try converted.seek(to: position, in: source, preroll: source.preroll, at: rate)
            if let fresh { decoder = fresh } else { decoder.reset() }
            converter = nil
            (rest, damagedInARow) = (0..<0, 0)
            undecoded = nil
            state = .reading
            return self.position
        }

        // MARK: Decoding

        /// Decodes the first frame. Returns false if there is none.
        private static func decodeFirst(
            _ source: any FFmpegPacketSource, _ decoder: borrowing Decoder
        ) throws(ReaderError) -> Bool {
            for _ in 0..<damageLimit {
                if decoder.receive() == .frame { return true }
                do { guard try source.nextPacket() != nil else { return false } } catch { throw .demuxer(error) }
                _ = decoder.send(source.packet)
            }
            return false
        }

        private static func format(of frame: UnsafeMutablePointer<AVFrame>) -> LPCMFormat? {
            let hertz = unsafe Int(frame.pointee.sample_rate)
            let channels = unsafe Int(frame.pointee.ch_layout.nb_channels)
            guard 1...64 ~= channels, SampleRate.recorded.contains(hertz) else { return nil }
            return LPCMFormat(rate: SampleRate(hertz: hertz), channelCount: channels)
        }

        /// Converts more audio. Returns false at the end.
        private func refill() throws(ReaderError) -> Bool {
            while state != .ended {
                if !rest.isEmpty {
                    if convertRest() { return true }
                    continue
                }
                switch decoder.receive() {
                case .frame: try locateFrame()
                case .needsPacket: try sendPacket()
                case .damaged: try countDamage()
                case .ended:
                    if drain() { return true }
                    state = .ended
                }
                if state == .ended { try reportDamage() }
            }
            return false
        }

        private func reportDamage() throws(ReaderError) {
            addHole()
            if hasDecoded, let text = source.missing.text {
                throw .undecodable(text, kind: .damaged)
            }
            if !hasDecoded, damagedPacketCount > 0 {
                throw .undecodable(
                    "none of its \(damagedPacketCount) packets can be decoded, since the file is damaged: download it again",
                    kind: .damaged)
            }
        }

        private func sendPacket() throws(ReaderError) {
            guard state == .reading else { return try countDamage() }
            let description: PacketDescription?
            do { description = try source.nextPacket() } catch { throw .demuxer(error) }
            guard description != nil else {
                state = .draining
                _ = decoder.send(nil)
                return
            }
            if !decoder.send(source.packet) { try countDamage() }
        }

        private func countDamage() throws(ReaderError) {
            damagedPacketCount += 1
            damagedInARow += 1
            let before = undecoded ?? Undecoded(begin: converted.position)
            undecoded = Undecoded(
                begin: before.begin, stated: before.stated + packetDuration, likely: before.likely + frameLength)
            guard state == .reading else {
                state = .ended
                return
            }
            guard damagedInARow < Self.damageLimit else {
                throw .undecodable(
                    "\(damagedInARow) packets in a row cannot be decoded, since the file is damaged: download it again",
                    kind: .damaged)
            }
            // A decoder of AAC keeps a channel configuration that it has read from damaged packets.
            if damagedInARow % Self.renewalInterval == 0 {
                decoder = try Decoder(source.codec, timeBase: source.timeBase)
            }
        }

        private var packetDuration: Duration {
            let ticks = unsafe min(max(source.packet.handle.pointee.duration, 0), 1 << 40)
            let base = source.timeBase
            return .seconds(Double(ticks) * Double(base.num) / Double(base.den))
        }

        /// Computes the position of the decoded frame and the part of it that is requested.
        private func locateFrame() throws(ReaderError) {
            let frame = unsafe decoder.frame
            let count = unsafe Int(frame.pointee.nb_samples)
            let channels = unsafe Int(frame.pointee.ch_layout.nb_channels)
            let hertz = unsafe Int(frame.pointee.sample_rate)
            guard count > 0, 1...64 ~= channels, SampleRate.recorded.contains(hertz) else { return try countDamage() }
            damagedInARow = 0
            guard !decoder.isFrameSkipped else { return }
            if !hasDecoded || rate.hertz != hertz { adopt(rate: SampleRate(hertz: hertz), channels) }
            let second = AVRational(num: 1, den: Int32(clamping: hertz))
            var begin = converted.nextFrame ?? converted.firstRequested
            let stamp = unsafe frame.pointee.pts
            var isStamped = false
            if stamp != tenfour_av_no_timestamp(), stamp.magnitude < 1 << 52 {
                let stated = clampedFrame(Int(clamping: av.av_rescale_q(stamp, source.timeBase, second)))
                // Treats only a difference above 5 ms as a gap, since a container's timestamps are coarser than
                // samples.
                if converted.nextFrame == nil || abs(stated - begin) > hertz / 200 { begin = stated }
                isStamped = true
            }
            let end = min(max(source.audibleFrameCount(of: count, at: second.den), 0), count)
            rest = min(converted.place(begin, count, at: rate), end)..<end
            frameLength = FrameCount(count).duration(at: rate)
            addHole(before: isStamped ? converted.position : nil)
        }

        /// Records the audio that was not decoded before the audio at `end`, which is nil if no timestamp states it. The
        /// timestamps of a joined file may be those of another codec.
        private func addHole(before end: Duration? = nil) {
            guard let undecoded else { return }
            self.undecoded = nil
            let stated = end.map { $0 - undecoded.begin } ?? .zero
            source.missing.addHole(
                at: undecoded.begin, lasting: max(stated, undecoded.length), until: end.map { max($0, undecoded.begin) }
            )
        }

        private func clampedFrame(_ frame: Int) -> Int { min(max(frame, -1 << 50), 1 << 50) }

        private func adopt(rate newRate: SampleRate, _ channels: Int) {
            if hasDecoded {
                // Converts the requested position to frames of the new sample rate, in which positions count from now
                // on.
                converted.firstRequested = Int(
                    Double(converted.firstRequested) * Double(newRate.hertz) / Double(rate.hertz))
                converted.nextFrame = nil
            } else if source.codec.format?.rate != newRate {
                converted.firstRequested = 0
            }
            rate = newRate
            hasDecoded = true
            source.updateFormat(LPCMFormat(rate: newRate, channelCount: channels))
        }

        // MARK: Converting

        private func convertRest() -> Bool {
            let frame = unsafe decoder.frame
            if !(unsafe converter?.accepts(frame) ?? false) {
                // The end of the audio before a change of the rate or the channels comes first.
                if drain() { return true }
                unsafe converter = Converter(from: frame, to: format)
            }
            let count = min(rest.count, Converter.inputLimit)
            guard converter != nil else {
                rest = rest.upperBound..<rest.upperBound
                damagedPacketCount += 1
                return false
            }
            let room = converter!.room(for: count)
            let produced = converted.fill(upTo: room) { samples in
                unsafe self.converter!.convert(frame, from: self.rest.lowerBound, count: count, into: &samples)
            }
            rest = (rest.lowerBound + count)..<rest.upperBound
            return produced
        }

        private func drain() -> Bool {
            guard converter != nil else { return false }
            let room = converter!.room(for: 0) + 64
            return converted.fill(upTo: room) { samples in self.converter!.drain(into: &samples) }
        }
    }
#endif
