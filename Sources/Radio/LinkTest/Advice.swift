internal import TenfourCallQuality
import TenfourJSON
internal import TenfourJitterBuffer
internal import TenfourPackets
internal import TenfourSession

extension LinkTestResult {
    /// The suggested changes, the most important first; empty if no change is needed.
    public var advice: [String] {
        [missingAdvice, lossAdvice, jitterAdvice, delayAdvice, driftAdvice].compactMap { $0 }
    }

    /// Advice if the other end's reports show that its card drops audio; nil otherwise.
    private var missingAdvice: String? {
        guard let share = view?.discardShare ?? quality?.whole.unplayedShare, share >= 0.005 else { return nil }
        return
            "the other end's sound card skips \(JSON.decimal(share * 100, places: 1).line)% of the audio that arrives: on that machine, try longer periods (-F 20ms) or "
            + "real-time priority, or end other programs"
    }

    private var lossAdvice: String? {
        guard let lossShare, lossShare >= 0.005 else { return nil }
        let percent = JSON.decimal(lossShare * 100, places: 1).line
        if lossShare > 0.5 {
            return
                "\(percent)% of the packets are lost, more than any setting can repair; check the cable, the signal or a firewall's limits"
        }
        let awaySlow = roundTrip.flatMap { times in
            times.quantile(0.5).flatMap { median in times.quantile(0).map { median - $0 } }
        }
        if lossShare >= 0.02, let awaySlow, awaySlow > .milliseconds(150) {
            return
                "\(percent)% of the packets are lost, and packets wait \(whole(awaySlow)) ms in a queue, so the link is full; "
                + "use a lower bit rate (-b \(bitRate > 16_000 ? "16k" : "8k")) or stop other traffic on it"
        }
        let remedy =
            lossProtection.isNone
            ? "add redundancy with --defence auto or --expect-loss \(Int((lossShare * 100).rounded(.up)))"
            : "loss protection (\(lossProtection)) recovers \(recoversMost ? "most" : "a part") of them; on wireless, move closer, choose another channel, or use a cable"
        if let burstLength, burstLength >= 2 {
            let inARow = JSON.decimal(burstLength, places: 1).line
            let patience =
                wantsMoreDelay ? "allow more delay (--max-latency 200ms) so that they can be retransmitted; " : ""
            return "\(percent)% of the packets are lost, \(inARow) in a row: \(patience)\(remedy)"
        }
        return "\(percent)% of the packets are lost, one by one: \(remedy)"
    }

    /// Whether bursts of lost packets could be retransmitted if a longer playout delay were allowed.
    private var wantsMoreDelay: Bool { burstLength.map { $0 >= 2 } ?? false && maximumDelay < .milliseconds(200) }

    /// Advice if one round trip in ten takes over 30 ms more than the shortest; nil otherwise. The playout delay is no
    /// measure of this variation, because recovery may have raised the delay.
    private var jitterAdvice: String? {
        guard let roundTrip, let least = roundTrip.quantile(0), let slow = roundTrip.quantile(0.9),
            slow - least > .milliseconds(30), let delay = quality?.whole.delays.mean
        else { return nil }
        let cut = wantsMoreDelay ? "" : ", or limit the wait with --max-latency, which causes drop-outs"
        return
            "packets arrive unevenly, one in ten more than \(whole(slow - least)) ms late, and playout waits \(whole(delay)) ms for "
            + "them: use a cable instead of wireless, or switch power saving off (iw dev wlan0 set power_save off)\(cut)"
    }

    private var delayAdvice: String? {
        guard let least = roundTrip?.quantile(0) ?? view?.roundTrip, least > .milliseconds(200) else { return nil }
        return
            "the round trip takes at least \(whole(least)) ms, which makes conversation difficult; use a shorter path (no VPN, no satellite)"
    }

    private var driftAdvice: String? {
        guard let playout = quality?.whole.playout, abs(playout.driftPartsPerMillion) > 200 else { return nil }
        return
            "the clocks differ by \(Int(playout.driftPartsPerMillion)) ppm, which is corrected, but suggests a faulty clock"
    }

    private var recoversMost: Bool {
        guard let whole = quality?.whole else { return false }
        return (whole.recoveredShare ?? 0) > (whole.concealedShare ?? 1)
    }

    private func whole(_ duration: Duration) -> String { JSON.decimal(duration / .milliseconds(1), places: 0).line }
}
