import TenfourAudioCore
import TenfourNetworkEmulator

// One direction of a network that loses 10% of the packets, in bursts of 3 on
// average, and delays the others by 20 ms and a random time. The same seed
// always gives the same losses and delays.
let network = NetworkModel(
    loss: .bursts(share: 0.1, meanLength: 3), delay: .milliseconds(20),
    jitter: .exponential(mean: .milliseconds(5)))
var link = EmulatedLink(network, seed: 7)

var lossCount = 0
var length = 0
var bursts: [Int: Int] = [:]  // the number of bursts, by length
var delays: [Duration] = []
for index in 0..<1000 {
    let sent = Instant.start + .milliseconds(20 * index)
    switch link.fate(ofPacket: 80, at: sent) {
    case .lost:
        lossCount += 1
        length += 1
    case .delivered(let time), .doubled(let time, and: _):
        delays.append(time - sent)
        if length > 0 { bursts[length, default: 0] += 1 }
        length = 0
    }
}

print("\(lossCount) of 1000 packets lost")
for (length, count) in bursts.sorted(by: { $0.key < $1.key }) {
    print("bursts of \(length): \(String(repeating: "#", count: count)) \(count)")
}
delays.sort()
print("half of the packets take less than \(delays[delays.count / 2])")
print("95% of the packets take less than \(delays[delays.count * 95 / 100])")
