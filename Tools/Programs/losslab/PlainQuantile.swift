import Sound

/// The yardstick for jitter: the .997 quantile of the last ten seconds of packet delays as the depth, a tempo of ± 10 %,
/// waiting on an empty buffer. It plays nothing; a packet's 20 ms are its only unit, and it waits to the very frame.
struct PlainQuantile {
    var share = 0.997
    var window = 480_000.0

    private struct Packet {
        var index: Int
        var at: Double
        var delay: Double
    }

    func receive(_ deliveries: Deliveries, of speech: EncodedSpeech) -> Outcome {
        let frame = Double(EncodedSpeech.frame)
        var outcome = Outcome()
        let packets = deliveries.list.map { delivery in
            let at = Double(delivery.at.rawValue)
            return Packet(index: delivery.index, at: at, delay: at - Double(speech.sent(delivery.index).rawValue))
        }
        var recent: [Packet] = []
        var received = [Bool](repeating: false, count: speech.packets.count)
        var newest = -1
        var next = 0
        var clock = packets.first?.at ?? 0
        var concealed = 0.0
        var index = 0
        while index < speech.packets.count {
            while next < packets.count, packets[next].at <= clock {
                recent.append(packets[next])
                received[packets[next].index] = true
                newest = max(newest, packets[next].index)
                next += 1
            }
            if received[index] {
                let delay = clock - Double(index) * frame
                outcome.delays.append(delay / 48)
                recent.removeAll { $0.at < clock - window }
                let change = min(max(target(recent) - delay, -frame / 10), frame / 10)
                clock += frame + change
                index += 1
            } else if newest > index {
                concealed += frame
                clock += frame
                index += 1
            } else if next < packets.count {
                let wait = max(min(packets[next].at - clock, 480), 1)
                concealed += wait
                clock += wait
            } else {
                break
            }
        }
        outcome.concealedShare = concealed / (Double(outcome.delays.count) * frame + concealed)
        return outcome
    }

    private func target(_ recent: [Packet]) -> Double {
        guard !recent.isEmpty else { return 0 }
        let delays = recent.map(\.delay).sorted()
        return delays[max(Int((Double(delays.count) * share).rounded(.up)) - 1, 0)]
    }
}
