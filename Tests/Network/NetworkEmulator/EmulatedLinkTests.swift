import TenfourAudioCore
import TenfourNetworkEmulator
import Testing

/// Returns the fates of `count` packets of 80 bytes, one every 20 ms.
func fates(_ network: NetworkModel, seed: UInt64 = 1, count: Int = 3000) -> [Fate] {
    var link = EmulatedLink(network, seed: seed, beginning: .start)
    return (0..<count).map { link.fate(ofPacket: 80, at: sending($0)) }
}

/// Returns the time at which the packet with this index is sent.
func sending(_ index: Int) -> Instant { .start + .milliseconds(20) * index }

/// Returns the delays of the delivered packets, in milliseconds.
func delays(_ fates: [Fate]) -> [Double] {
    fates.enumerated().compactMap { index, fate in fate.firstDelivery.map { ($0 - sending(index)) / .milliseconds(1) } }
}

extension Fate {
    /// The time of the first delivery; nil if the packet is lost.
    var firstDelivery: Instant? {
        switch self {
        case .lost: nil
        case .delivered(let time), .doubled(let time, _): time
        }
    }
}

func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }

struct EmulatedLinkTests {
    /// A network that uses every feature of the model.
    let everything = NetworkModel(
        bottleneck: Bottleneck(bitsPerSecond: 100_000), loss: .bursts(share: 0.1, meanLength: 3),
        stalls: Stalls(length: .milliseconds(50) ... .milliseconds(90), meanInterval: .seconds(1)),
        delay: .milliseconds(40), jitter: .exponential(mean: .milliseconds(10)),
        reordering: Reordering(share: 0.05), duplication: Duplication(share: 0.05))

    @Test func aFreshModelDoesNothing() {
        #expect(fates(NetworkModel()) == (0..<3000).map { .delivered(at: sending($0)) })
    }

    @Test func theSameSeedGivesTheSameFates() {
        #expect(fates(everything, seed: 7) == fates(everything, seed: 7))
        #expect(fates(everything, seed: 7) != fates(everything, seed: 8))
    }

    @Test func aSeedMeansTheSameInEveryRelease() {
        #expect(
            fates(everything, seed: 7, count: 6).map(\.firstDelivery?.nanoseconds) == [
                51_855_000, 71_844_000, 106_373_000, 116_230_000, 135_914_000, nil,
            ])
    }

    @Test func whereTimeBeginsChangesNothing() {
        let offset = Duration.seconds(86_400 * 365)
        var link = EmulatedLink(everything, seed: 3)
        let moved = (0..<3000).map { link.fate(ofPacket: 80, at: sending($0) + offset).firstDelivery }
        #expect(moved == fates(everything, seed: 3).map { $0.firstDelivery.map { $0 + offset } })
    }

    @Test func lossDoesNotChangeTheDelaysOfThoseThatCome() {
        let jittery = NetworkModel(jitter: .normal(deviation: .milliseconds(10)))
        var lossy = jittery
        lossy.loss = .random(0.3)
        var survivors = 0
        for (clean, bad) in zip(fates(jittery), fates(lossy)) where bad != .lost(.chance) {
            #expect(clean == bad)
            survivors += 1
        }
        #expect((1800..<2400).contains(survivors))
    }

    @Test func everyOtherEffectLeavesTheLossesWhereTheyWere() {
        let lossy = NetworkModel(loss: .bursts(share: 0.1, meanLength: 3))
        var worse = lossy
        worse.jitter = .gamma(shape: 3, mean: .milliseconds(30))
        worse.stalls = everything.stalls
        worse.reordering = Reordering(share: 0.2)
        worse.duplication = Duplication(share: 0.2)
        #expect(fates(worse).map { $0 == .lost(.chance) } == fates(lossy).map { $0 == .lost(.chance) })
    }

    @Test func doublingComesOnTopOfTheSameDelays() {
        var doubling = everything
        doubling.duplication = Duplication(share: 0.5, after: .milliseconds(7))
        var single = everything
        single.duplication = nil
        #expect(fates(doubling).map(\.firstDelivery) == fates(single).map(\.firstDelivery))
        let seconds = fates(doubling).compactMap { fate -> Duration? in
            if case .doubled(let first, let second) = fate { second - first } else { nil }
        }
        #expect((1150..<1550).contains(seconds.count))
        #expect(seconds.allSatisfy { $0 == .milliseconds(7) })
    }

    @Test func aPacketHeldBackIsOvertakenAndHoldsNobodyUp() {
        var link = NetworkModel(delay: .milliseconds(5), keepsOrder: true)
        link.reordering = Reordering(share: 0.1, heldBack: .milliseconds(50))
        let late = delays(fates(link))
        #expect(Set(late) == [5, 55])
        #expect((240..<360).contains(late.count { $0 == 55 }))
    }

    @Test func oddTimesAndSizesNeverTrap() {
        var wild = everything
        wild.delay = .seconds(Int64.max)
        wild.jitter = .pareto(least: .seconds(Int64.max), shape: 0, limit: .seconds(-1))
        wild.detour = Detour(extra: .seconds(Int64.max), during: .seconds(-5) ..< .seconds(9), every: .seconds(10))
        wild.bottleneck = Bottleneck(bitsPerSecond: 0, queue: .byteCount(.max), headerByteCount: .max)
        wild.loss = .gilbertElliott(toBad: .nan, toGood: -1, lossInGood: .infinity, lossInBad: 2)
        for network in [everything, wild] {
            #expect(!network.description.isEmpty)
            for beginning in [nil, Instant.start, Instant(nanoseconds: .min), Instant(nanoseconds: .max)] {
                var link = EmulatedLink(network, seed: 1, beginning: beginning)
                for time: Int64 in [0, 5, .max, .min, -1, 1 << 62, 0] {
                    for byteCount in [0, -1, .max, .min, 1500] {
                        _ = link.fate(ofPacket: byteCount, at: Instant(nanoseconds: time))
                    }
                }
            }
        }
    }
}
