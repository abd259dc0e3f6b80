#if FFmpeg
    internal import CAV
    internal import Glibc
    internal import TenfourAudioCore

    // Seeks within the bytes that have arrived. Used for a stream that arrives once and in order, such as one from a
    // server without range requests.
    extension FFmpegDemuxer {
        /// The number of bytes that FFmpeg reads at a time.
        private static let margin = 32_768
        /// The time to wait for more bytes before the bytes that have arrived count as all there are. A pipe is empty
        /// for a moment after each read, until its writer refills it.
        private static let arrivalPatience = Duration.milliseconds(50)

        func seekInBuffer(to position: Duration) throws(DemuxerError) -> Estimate<Duration> {
            let requested = ticks(of: max(position, .zero))
            if requested >= nextTicks { return try readOn(to: requested) }
            let held = stream.byteSource.state.held
            // Throws if the seek is impossible, before anything is changed.
            guard let place = seekPoints.first(where: { $0.offset >= held.lowerBound }), place.ticks <= requested
            else { throw .notSeekable }
            stream.forgetEnd()
            let limits = stream.byteSource.limits
            stream.confinement = held
            // FFmpeg seeks back and forth, so no bytes may be dropped during the seek.
            stream.byteSource.limits.behind = .max
            defer {
                stream.confinement = nil
                stream.byteSource.limits = limits
            }
            return try jump(to: stamp(of: position), orTo: position)
        }

        /// The timestamp of the next packet.
        private var nextTicks: Int64 {
            let stamp = unsafe packet.handle.pointee.pts
            return isPacketRead && stamp != tenfour_av_no_timestamp() ? stamp : lastEnd
        }

        /// Skips packets up to the one that contains `requested`, as far as packets have arrived.
        private func readOn(to requested: Int64) throws(DemuxerError) -> Estimate<Duration> {
            while true {
                if !isPacketRead { isPacketRead = try readPacket() }
                guard isPacketRead else { return Estimate(duration(of: lastEnd), isExact: true) }
                let begin = nextTicks
                let length = unsafe max(packet.handle.pointee.duration, 1)
                if begin.addingReportingOverflow(length).partialValue > requested {
                    return Estimate(duration(of: begin), isExact: true)
                }
                guard arrivesPromptly() else {
                    reach = duration(of: begin)
                    return Estimate(duration(of: begin), isExact: true)
                }
                _ = describe()
                isPacketRead = false
            }
        }

        private func arrivesPromptly() -> Bool {
            let begin = ContinuousClock.now
            while !stream.isBuffered(Self.margin) {
                if ContinuousClock.now - begin > Self.arrivalPatience { return false }
                usleep(5_000)
            }
            return true
        }
    }
#endif
