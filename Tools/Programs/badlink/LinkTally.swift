import TenfourAudioCore
import TenfourNetworkEmulator

/// The counts of one path: the packets of one direction of one port.
struct LinkTally {
    var received = 0
    /// The number of packets sent, including duplicates, so that it may exceed `received`.
    var sent = 0
    var lost: [LossReason: Int] = [:]
    var doubled = 0
    /// The number of packets sent out of order, after a packet that had been received later.
    var reordered = 0
    /// The number of packets dropped because too many were in flight.
    var overflowed = 0
    /// The number of packets that the system or the network refused to send.
    var refused = 0
    /// The number of packets that were not forwarded: packets from the target before there was a client, and packets to
    /// the client's side from anybody but the target.
    var stray = 0
    /// The time from receiving to sending, in microseconds.
    var delays = Histogram()
    /// The time by which packets were sent later than the model required, in microseconds: the delay added by the
    /// proxy itself.
    var lateness = Histogram()

    private var latestSent = -1

    /// Counts a packet that was sent at `now`. `index` is its number in the order of arrival; `isSecond` marks the
    /// duplicate of a packet.
    mutating func countSent(index: Int, isSecond: Bool, received: Instant, due: Instant, at now: Instant) {
        sent += 1
        delays.add(microseconds(now - received))
        lateness.add(microseconds(now - due))
        if isSecond { return }
        if index < latestSent { reordered += 1 }
        latestSent = max(latestSent, index)
    }
}

/// A histogram of durations from one microsecond to hours, with a precision of 3 %.
struct Histogram {
    private(set) var count = 0
    private(set) var least = 0
    private(set) var most = 0
    private var sum = 0.0
    /// 32 bins for each power of two.
    private var bins = [Int](repeating: 0, count: 32 * 40)

    mutating func add(_ value: Int) {
        let value = max(0, value)
        least = count == 0 ? value : min(least, value)
        most = max(most, value)
        sum += Double(value)
        count += 1
        bins[min(bin(of: value), bins.count - 1)] += 1
    }

    var mean: Double { count == 0 ? 0 : sum / Double(count) }

    /// Returns the value that a `share` of all values does not exceed.
    func quantile(_ share: Double) -> Int {
        var rest = Int((share * Double(count)).rounded(.up))
        for (index, number) in bins.enumerated() {
            rest -= number
            if rest <= 0 { return min(largest(in: index), most) }
        }
        return most
    }

    /// Returns the bin of a value. Each value below 64 has its own bin. The bin of a larger value follows from its
    /// first six bits and its magnitude.
    private func bin(of value: Int) -> Int {
        if value < 64 { return value }
        let shift = value.bitWidth - value.leadingZeroBitCount - 6
        return shift * 32 + value >> shift
    }

    private func largest(in bin: Int) -> Int {
        if bin < 64 { return bin }
        let shift = bin / 32 - 1
        return ((bin - shift * 32 + 1) << shift) - 1
    }
}

private func microseconds(_ duration: Duration) -> Int { Int(Instant.nanoseconds(in: duration) / 1000) }
