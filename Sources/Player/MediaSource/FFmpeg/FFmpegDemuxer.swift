#if FFmpeg
    internal import CAV
    package import TenfourAudioCore

    /// Demuxes containers by libavformat. The C functions are `av_read_frame` and `av_seek_frame`.
    ///
    /// FFmpeg uses the demuxer of the container that we recognised, and does not select one itself. The demuxer may
    /// open no other resource.
    @safe
    package final class FFmpegDemuxer: FFmpegPacketSource {
        package private(set) var track: Track
        package private(set) var bitRate: Int?

        let codec: CodecParameters
        let packet: Packet
        let timeBase: AVRational
        let preroll: Duration
        let correction = Duration.zero
        let isExact = true

        let stream: ByteStream
        private let file: ContainerFile
        /// Whether one audio stream is all that there is, besides pictures.
        let isAudioOnly: Bool
        let handle: UnsafeMutablePointer<AVFormatContext>
        let streamIndex: Int32
        /// The timestamp at which the audio begins. It is not zero in a recording that was cut out of a longer one,
        /// such as a radio programme.
        private(set) var origin: Int64?
        private let startsAtFirstPacket: Bool
        /// Whether a negative first timestamp is that of audio. In a transport stream it precedes the point where
        /// timestamps wrap; in other containers it marks the decoder's start-up.
        private let startsBelowZero: Bool
        /// Whether decoded audio is shortened to the packet's stated duration.
        private let trustsDurations: Bool
        /// Whether the container may interleave packets of other streams, such as video, with the audio packets.
        private let holdsOthers: Bool
        private let firstByte: Int
        let container: ContainerFormat
        /// Whether FFmpeg has been made to read the Cues of Matroska.
        var hasLoadedCues = false
        /// Whether a seek has already read the next packet.
        var isPacketRead = false
        var isContiguous = true
        var missing = MissingAudio()
        var gaps = PacketGaps()
        /// The duration of the last packet since the last seek, in ticks; 0 if there is none, or it is unknown.
        var lastDuration: Int64 = 0
        /// The size of the file when it was opened, in bytes; nil if it has no end.
        let openedByteCount: Int?
        /// The offset of the last byte at which FFmpeg gave up.
        var lastDamage: Int64 = -1
        private var parsed = Extent()
        package internal(set) var reach: Duration?
        /// The timestamps and offsets of packets read so far, about one packet per second.
        private(set) var seekPoints: [SeekPoint] = []
        /// The end of the last packet, as a timestamp.
        private(set) var lastEnd: Int64 = 0
        private var measured: Duration?
        /// The end of the audio as a tag of its stream states it; nil if there is none.
        private var statedEnd: Duration?

        /// Totals of the packets read so far.
        private struct Extent {
            var byteCount = 0
            var time: Int64 = 0
            /// The end of the last packet, as a timestamp.
            var end: Int64 = 0
            var lastByte = 0
        }

        /// The timestamp and offset of a packet.
        struct SeekPoint {
            var ticks: Int64
            var offset: Int
        }

        /// The largest number of seek points: 36 hours at one per second. When it is reached, the older half is
        /// dropped.
        private static let seekPointLimit = 1 << 17

        /// The largest number of bytes that FFmpeg may read to open the container, pictures included: 64 MiB.
        private static let openingLimit = 1 << 26

        /// Opens the container in `stream`. `tag` is the ID3 tag before the container, empty if there is none.
        /// `probed` is the format if libavformat recognised it; `choice` is the audio track, nil for the one that the file
        /// marks.
        init(
            _ stream: ByteStream, _ container: ContainerFormat, tag: ID3Tag, probed: InputFormat? = nil,
            track choice: AudioTrackChoice? = nil
        ) throws(ReaderError) {
            guard let format = probed ?? Self.demultiplexer(of: container).flatMap({ InputFormat(named: $0) }),
                let packet = Packet(), let codec = CodecParameters()
            else {
                throw .undecodable(
                    "the installed FFmpeg cannot read \(container) files: convert the file to another format")
            }
            self.stream = stream
            openedByteCount = stream.byteSource.hasEnd ? stream.byteSource.state.byteCount : nil
            self.packet = packet
            self.codec = codec
            stream.allowance = Self.openingLimit
            file = try ContainerFile(stream, format, isProbed: probed != nil)
            unsafe handle = file.handle
            stream.allowance = .max
            let alternatives = file.audioTracks
            isAudioOnly = alternatives.count == 1 && !file.hasVideo
            guard let number = try Self.index(of: choice, in: alternatives) else {
                let what = file.hasVideo ? "this is a video without sound" : "this file contains no audio"
                throw .demuxer(.malformed("\(what): name another file", kind: .notAudio))
            }
            let index = file.audioStreams[number]
            let chosen = unsafe handle.pointee.streams[Int(index)]!
            guard unsafe av.avcodec_parameters_copy(codec.handle, chosen.pointee.codecpar) >= 0 else {
                throw .undecodable(ffmpegErrorText(tenfour_av_no_memory()), kind: .resourcesExhausted)
            }
            streamIndex = index
            timeBase = unsafe chosen.pointee.time_base
            guard timeBase.num > 0, timeBase.den > 0 else {
                throw .demuxer(.malformed("the time base of this file is invalid: convert it with ffmpeg first"))
            }
            firstByte = unsafe Int(clamping: av.avio_seek(handle.pointee.pb, 0, 1))
            startsBelowZero = container == .mpegTS
            startsAtFirstPacket = [.ogg, .mpegTS, .matroska, .other].contains(container)
            // Ogg needs a longer preroll: after a seek, the first page has no exact timestamp, and a page may last over
            // a second.
            preroll = container == .ogg ? .seconds(3) : .milliseconds(300)
            trustsDurations = container == .mp4
            holdsOthers = [.mpegTS, .matroska, .other].contains(container)
            self.container = container
            track = Track(codec: codec.name, format: codec.format ?? LPCMFormat())
            unsafe ContainerTags(handle, streamIndex: index).fill(&track, after: tag)
            track.alternatives = alternatives
            track.alternatives[number].isRead = true
            unsafe Self.discardAllBut(index, of: handle)
            statedEnd = unsafe ContainerTags(handle, streamIndex: index).statedEnd
            if container == .mpegTS { measured = endOfTransportStream() }
        }

        // MARK: Packets

        package func nextPacket() throws(DemuxerError) -> PacketDescription? {
            if isPacketRead {
                isPacketRead = false
            } else {
                guard try readPacket() else {
                    findEnd()
                    if isContiguous { measure() }
                    return nil
                }
            }
            return describe()
        }

        /// Reads the stream's next packet into `packet`. Returns false at the end.
        func readPacket() throws(DemuxerError) -> Bool {
            stream.forgetEnd()
            var damage: Int64?
            while true {
                unsafe av.av_packet_unref(packet.handle)
                let result = unsafe av.av_read_frame(handle, packet.handle)
                if result < 0 {
                    if let failure = stream.consumeFailure() { throw .byteSource(failure) }
                    if result != tenfour_av_eof(), passDamage(since: &damage) { continue }
                    return false
                }
                if unsafe packet.handle.pointee.stream_index == streamIndex, unsafe packet.handle.pointee.size > 0 {
                    break
                }
            }
            let none = tenfour_av_no_timestamp()
            let given = unsafe packet.handle.pointee.pts == none ? packet.handle.pointee.dts : packet.handle.pointee.pts
            if given != none {
                if origin == nil { origin = startsAtFirstPacket ? startsBelowZero ? given : max(given, 0) : 0 }
                unsafe packet.handle.pointee.pts = given.subtractingReportingOverflow(origin ?? 0).partialValue
            }
            unsafe packet.handle.pointee.dts = packet.handle.pointee.pts
            return true
        }

        func audibleFrameCount(of decoded: Int, at hertz: Int32) -> Int {
            let (duration, discarded) = unsafe (packet.handle.pointee.duration, Int(clamping: discardedSampleCount))
            if discarded > 0 { return decoded - min(discarded, decoded) }
            guard trustsDurations, duration > 0 else { return decoded }
            return min(decoded, Int(clamping: av.av_rescale_q(duration, timeBase, AVRational(num: 1, den: hertz))))
        }

        /// The number of samples to discard at the packet's end: the second four of ten bytes of
        /// `AV_PKT_DATA_SKIP_SAMPLES`.
        private var discardedSampleCount: UInt32 {
            var size = 0
            guard let data = unsafe av.av_packet_get_side_data(packet.handle, AV_PKT_DATA_SKIP_SAMPLES, &size),
                size >= 8
            else { return 0 }
            return unsafe Span(_unsafeStart: data, count: size).littleEndian32(at: 4)
        }

        func describe() -> PacketDescription {
            let (position, size) = unsafe (packet.handle.pointee.pos, Int(packet.handle.pointee.size))
            let time = unsafe max(packet.handle.pointee.duration, 0)
            let offset = position >= 0 ? stream.start + Int(clamping: position) : stream.start + parsed.lastByte
            parsed.byteCount += size
            parsed.lastByte = max(parsed.lastByte, offset - stream.start + size)
            parsed.time = parsed.time.addingReportingOverflow(time).partialValue
            let begin = unsafe packet.handle.pointee.pts
            let from = begin == tenfour_av_no_timestamp() ? parsed.end : begin
            lastEnd = from.addingReportingOverflow(time).partialValue
            parsed.end = max(parsed.end, lastEnd)
            if position >= 0 { record(SeekPoint(ticks: from, offset: offset)) }
            findHole(at: position, from, lasting: time)
            if parsed.time > 0 {
                let seconds = Double(parsed.time) * Double(timeBase.num) / Double(timeBase.den)
                bitRate = Int(clamping: Int64(min(Double(parsed.byteCount) * 8 / max(seconds, 1e-3), 1e12)))
            }
            return PacketDescription(offset: offset, byteCount: size, frameCount: FrameCount(frames(in: time)))
        }

        private func record(_ place: SeekPoint) {
            guard seekPoints.last.map({ duration(of: place.ticks) - duration(of: $0.ticks) >= .seconds(1) }) ?? true
            else { return }
            if seekPoints.count == Self.seekPointLimit { seekPoints.removeFirst(Self.seekPointLimit / 2) }
            seekPoints.append(place)
        }

        // MARK: Time

        package var timestampOfStart: Duration? { origin.map(duration(of:)) }

        package var duration: Estimate<Duration>? {
            if let measured { return Estimate(measured, isExact: true) }
            if let statedEnd { return Estimate(statedEnd, isExact: true) }
            let none = tenfour_av_no_timestamp()
            if let stream = unsafe handle.pointee.streams[Int(streamIndex)] {
                let stated = unsafe stream.pointee.duration
                if stated != none, stated > 0 {
                    // Musepack counts in packets of more than a second.
                    return Estimate(duration(of: stated), isExact: duration(of: 1) < .milliseconds(100))
                }
            }
            let whole = unsafe handle.pointee.duration
            if whole != none, whole > 0 {
                let isGuess = unsafe handle.pointee.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE
                return Estimate(.microseconds(min(whole, 1 << 55)), isExact: !isGuess)
            }
            guard let byteCount = stream.byteSource.state.byteCount, parsed.byteCount > 0, parsed.time > 0 else {
                return nil
            }
            let firstByte = holdsOthers ? 0 : firstByte
            let held = holdsOthers ? max(parsed.lastByte, 1) : parsed.byteCount
            let share = Double(max(byteCount - stream.start - firstByte, 0)) / Double(held)
            let ticks = min(Double(parsed.time) * share, 1e15)
            return Estimate(duration(of: Int64(ticks)), isExact: track.codec.hasPrefix("pcm"))
        }

        /// Measures the duration after the last packet. If the container states an exact duration that differs by less
        /// than 200 ms, the stated duration is used instead: the difference is padding, and the stated duration is
        /// exact to the sample.
        private func measure() {
            let parsed = duration(of: parsed.end)
            if let stated = duration, stated.isExact, stated.value - parsed < .milliseconds(200),
                parsed - stated.value < .milliseconds(200)
            {
                measured = stated.value
            } else {
                measured = parsed
            }
        }

        package func seek(to position: Duration) throws(DemuxerError) -> Estimate<Duration> {
            reach = nil
            guard stream.isSeekable else { return try seekInBuffer(to: position) }
            stream.forgetEnd()
            let stamp = try stamp(of: position)
            try prepareIndex(for: stamp)
            return try jump(to: stamp, orTo: position)
        }

        /// Converts `position` to the stream's timestamps.
        func stamp(of position: Duration) throws(DemuxerError) -> Int64 {
            // Checks for overflow, because a damaged file may start near the largest timestamp.
            let (stamp, isTooFar) = ticks(of: max(position, .zero)).addingReportingOverflow(origin ?? 0)
            if isTooFar {
                throw .malformed(
                    "the timestamps overflow at that position, since the file is damaged: seek to an earlier position")
            }
            return stamp
        }

        /// Seeks so that the next packet contains `requested` or precedes it. Returns the start of that packet, or
        /// `position` if FFmpeg does not report it.
        func jump(to requested: Int64, orTo position: Duration) throws(DemuxerError) -> Estimate<Duration> {
            isPacketRead = false
            if container == .mpegTS, stream.isSeekable {
                try seekTransportStream(to: requested)
            } else if container == .flac, stream.isSeekable, let blockSize = flacBlockSize {
                try seekFLAC(to: requested, blockSize: blockSize)
            } else {
                try seekByIndex(to: requested)
            }
            isContiguous = false
            restartMissing()
            // In a transport stream, packets without a timestamp belong to those before the place reached.
            for attempt in 0..<(container == .mpegTS ? 256 : 1) {
                if attempt > 0 || !isPacketRead { isPacketRead = try readPacket() }
                guard isPacketRead else { return Estimate(duration?.value ?? position, isExact: true) }
                if unsafe packet.handle.pointee.pts != tenfour_av_no_timestamp() { break }
            }
            let begin = unsafe packet.handle.pointee.pts
            return Estimate(begin == tenfour_av_no_timestamp() ? position : duration(of: begin), isExact: true)
        }

        func updateFormat(_ format: LPCMFormat) { track.format = format }

        func duration(of ticks: Int64) -> Duration {
            let limit: Int64 = 1 << 55
            let microseconds = av.av_rescale_q(
                min(max(ticks, -limit), limit), timeBase, AVRational(num: 1, den: 1_000_000))
            return .microseconds(min(max(microseconds, -limit), limit))
        }

        /// Converts a duration to timestamps, rounded down: a unit may be longer than a second, as in Musepack.
        func ticks(of duration: Duration) -> Int64 {
            let ticks = av.av_rescale_q(
                Instant.nanoseconds(in: duration), AVRational(num: 1, den: 1_000_000_000), timeBase)
            return self.duration(of: ticks) > duration ? ticks - 1 : ticks
        }

        private func frames(in ticks: Int64) -> Int {
            let second = AVRational(num: 1, den: Int32(clamping: track.format.rate.hertz))
            return Int(clamping: min(max(av.av_rescale_q(ticks, timeBase, second), 0), 1 << 40))
        }
    }

    // MARK: Opening

    extension FFmpegDemuxer {
        /// Returns the index of the track to read: the chosen one, or else the first that the file marks as its default,
        /// or else the first. nil if there is no audio.
        private static func index(
            of choice: AudioTrackChoice?, in tracks: [AudioTrack]
        ) throws(ReaderError) -> Int? {
            guard let choice, !tracks.isEmpty else {
                return tracks.firstIndex { $0.isDefault } ?? tracks.indices.first
            }
            return try choice.requiredIndex(in: tracks)
        }

        /// Makes FFmpeg discard all streams except the one at `index`, and frees attached pictures.
        private static func discardAllBut(_ index: Int32, of handle: UnsafeMutablePointer<AVFormatContext>) {
            let count = unsafe handle.pointee.nb_streams
            for other in 0..<count where Int32(other) != index {
                guard let stream = unsafe handle.pointee.streams[Int(other)] else { continue }
                unsafe stream.pointee.discard = AVDISCARD_ALL
                unsafe av.av_packet_unref(&stream.pointee.attached_pic)
            }
        }

        private static func demultiplexer(of container: ContainerFormat) -> String? {
            switch container {
            case .ogg, .oggOpus: "ogg"
            case .wav: "wav"
            case .wave64: "w64"
            case .aiff: "aiff"
            case .caf: "caf"
            case .flac: "flac"
            case .mp4: "mov"
            case .matroska: "matroska"
            case .mpegTS: "mpegts"
            case .wavPack: "wv"
            case .musepack7: "mpc"
            case .musepack8: "mpc8"
            case .au: "au"
            default: nil
            }
        }
    }
#endif
