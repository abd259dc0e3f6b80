import TenfourAudioCore
import TenfourNetworkEmulator

/// What happened on one path: the packets of one direction of one port.
struct LinkTally {
    var received = 0
    /// Copies handed to the network; with doubles, more than came in.
    var sent = 0
    var lost: [LossReason: Int] = [:]
    var doubled = 0
    /// Sent after a packet that had been received later.
    var reordered = 0
    /// Found too many packets in flight.
    var overflowed = 0
    /// Refused by the machine or the network.
    var refused = 0
    /// From the target before there was a client to send it to, or from somebody who is not the target.
    var stray = 0
    /// From receiving to sending, in microseconds.
    var delays = Histogram()
    /// How much later than the model wanted, in microseconds: the proxy's own share.
    var lateness = Histogram()

    private var latestSent = -1

    /// A packet, the `index`th received, has been sent at `now`; `isSecond` for the double of one.
    mutating func countSent(index: Int, isSecond: Bool, received: Instant, due: Instant, at now: Instant) {
        sent += 1
        delays.add(microseconds(now - received))
        lateness.add(microseconds(now - due))
        if isSecond { return }
        if index < latestSent { reordered += 1 }
        latestSent = max(latestSent, index)
    }
}

/// How often each duration occurred, without remembering them all: to 3 % of it, from a microsecond to hours.
struct Histogram {
    private(set) var count = 0
    private(set) var least = 0
    private(set) var most = 0
    private var sum = 0.0
    /// 32 for each power of two.
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

    /// The value that `share` of all do not exceed.
    func quantile(_ share: Double) -> Int {
        var rest = Int((share * Double(count)).rounded(.up))
        for (index, number) in bins.enumerated() {
            rest -= number
            if rest <= 0 { return min(largest(in: index), most) }
        }
        return most
    }

    /// Below 64 each value has its own bin; above, the first six bits of a value and their place make its bin.
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
