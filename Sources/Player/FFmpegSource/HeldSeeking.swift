#if FFmpeg
    internal import CAV
    internal import TenfourMediaSource
    internal import Glibc
    internal import TenfourAudioCore

    // Seeks in a stream that comes once and in order, as from a server without ranges: as far as its bytes have
    // arrived.
    extension FFmpegDemuxer {
        /// How many bytes FFmpeg asks for at a time.
        private static let margin = 32_768
        /// How long to wait for more bytes: a pipe may be filled again after it was read.
        private static let arrivalPatience = Duration.milliseconds(50)

        func seekWithinWhatIsHere(to position: Duration) throws(DemuxerError) -> Estimate<Duration> {
            let wanted = ticks(of: max(position, .zero))
            if wanted >= nextTicks { return try readOn(to: wanted) }
            let held = stream.download.state.held
            // Thrown before anything has moved.
            guard let place = places.first(where: { $0.offset >= held.lowerBound }), place.ticks <= wanted
            else { throw .noWayThere }
            stream.forgetEnd()
            let limits = stream.download.limits
            stream.confinement = held
            // FFmpeg goes forth and back to find the place: nothing may be forgotten meanwhile.
            stream.download.limits.behind = .max
            defer {
                stream.confinement = nil
                stream.download.limits = limits
            }
            return try jump(to: stamp(of: position), orTo: position)
        }

        /// The timestamp of the next packet.
        private var nextTicks: Int64 {
            let stamp = unsafe packet.handle.pointee.pts
            return isPacketRead && stamp != tenfour_av_no_timestamp() ? stamp : lastEnd
        }

        /// Passes over packets until the one that holds `wanted`, as far as they have arrived.
        private func readOn(to wanted: Int64) throws(DemuxerError) -> Estimate<Duration> {
            while true {
                if !isPacketRead { isPacketRead = try readPacket() }
                guard isPacketRead else { return Estimate(duration(of: lastEnd), isExact: true) }
                let begin = nextTicks
                let length = unsafe max(packet.handle.pointee.duration, 1)
                if begin.addingReportingOverflow(length).partialValue > wanted {
                    return Estimate(duration(of: begin), isExact: true)
                }
                guard comesAtOnce() else {
                    reach = duration(of: begin)
                    return Estimate(duration(of: begin), isExact: true)
                }
                _ = describe()
                isPacketRead = false
            }
        }

        private func comesAtOnce() -> Bool {
            let begin = ContinuousClock.now
            while !stream.isHere(Self.margin) {
                if ContinuousClock.now - begin > Self.arrivalPatience { return false }
                usleep(5_000)
            }
            return true
        }
    }
#endif
