internal import TenfourAudioCore
internal import TenfourPackets

extension Source {
    /// Converts the jitter of a block from 48 000 Hz to the clock rate of the encoding (RFC 3550 section 6.4.1).
    func inTicks(_ block: ReportBlock) -> ReportBlock {
        var block = block
        block.jitter = FrameCount(block.jitter.rawValue / encoding.framesPerTick)
        return block
    }

    /// Returns the VoIP metrics of the source's stream over the last seconds (RFC 3611 section 4.7).
    func metrics(maximumDelay: Duration) -> VoIPMetrics {
        var metrics = VoIPMetrics(source: ssrc)
        let loss = recentLoss
        let bursts = trace.recentBursts
        let gapPackets = bursts.packetCount - bursts.burstPacketCount
        metrics.lossRate = share(loss.lossCount, of: loss.packetCount)
        metrics.burstDensity = share(bursts.burstLossCount, of: bursts.burstPacketCount)
        metrics.gapDensity = share(bursts.lossCount - bursts.burstLossCount, of: gapPackets)
        metrics.burstDuration = trace.frame * bursts.burstPacketCount / max(bursts.burstCount, 1)
        metrics.gapDuration = trace.frame * gapPackets / (bursts.burstCount + 1)
        metrics.roundTrip = roundTrip ?? .zero
        metrics.nominalDelay = trace.playoutDelay ?? .zero
        metrics.endSystemDelay = trace.frame + metrics.nominalDelay
        metrics.maximumDelay = max(maximumDelay, metrics.nominalDelay)
        return metrics
    }

    /// Returns `part` as a proportion of `whole`, in units of 1/256.
    private func share(_ part: Int, of whole: Int) -> UInt8 { whole > 0 ? UInt8(clamping: part * 256 / whole) : 0 }
}
