import TenfourAudioCore
import TenfourNetworkEmulator
import Testing

/// Returns twenty runs of one minute each.
private func runs(_ name: String) throws -> [[Fate]] {
    let network = try #require(NetworkModel(named: name))
    return (1...20).map { fates(network, seed: $0) }
}

/// Returns a quantile of values in any order.
private func quantile(_ share: Double, of values: [Double]) -> Double {
    values.sorted()[Int(share * Double(values.count - 1))]
}

/// Returns the share of packets that arrive after a packet sent later.
private func overtakenShare(_ fates: [Fate]) -> Double {
    let deliveries = fates.compactMap(\.firstDelivery)
    var earliestAfter = Instant(nanoseconds: .max)
    var overtaken = 0
    for delivery in deliveries.reversed() {
        if earliestAfter < delivery { overtaken += 1 }
        earliestAfter = min(earliestAfter, delivery)
    }
    return Double(overtaken) / Double(deliveries.count)
}

/// The networks named after the laboratory's traces, compared with measurements of those traces.
struct NamedNetworkTests {
    @Test(arguments: [("b5", 5.2), ("b10", 9.7), ("b20", 20.6), ("g5", 4.4), ("g10", 9.8), ("g20", 21.1)])
    func lossTracesLoseWhatTheyAreNamedFor(name: String, measured: Double) throws {
        let all = try runs(name)
        let shares = all.map { run in Double(run.count { $0 == .lost(.chance) }) * 100 / Double(run.count) }
        let wanted = try #require(Double(name.dropFirst()))
        #expect(abs(mean(shares) - wanted) < 0.05 * wanted)
        // The share in the laboratory's one-minute trace lies within the range of our runs.
        #expect(shares.min()! <= measured && measured <= shares.max()!)
        #expect(all.allSatisfy { Set(delays($0)) == [0] })
    }

    @Test func jitterTracesReorder() throws {
        let gentle = try runs("j10")
        #expect(abs(mean(gentle.flatMap(delays)) - 30) < 0.5)
        #expect((0.06...0.10).contains(mean(gentle.map(overtakenShare))))
        let rough = try runs("j30")
        #expect(abs(mean(rough.flatMap(delays)) - 90) < 1)
        #expect((0.36...0.48).contains(mean(rough.map(overtakenShare))))
    }

    @Test(arguments: ["gam", "par", "wifi-lab", "lan", "wifi", "wifi-bad", "lte", "3g", "dsl", "satellite"])
    func someNeverReorder(name: String) throws {
        for run in try runs(name) { #expect(overtakenShare(run) == 0) }
    }

    @Test func theTailsAreThoseOfTheLaboratory() throws {
        let gam = try runs("gam").map(delays)
        #expect(abs(mean(gam.flatMap { $0 }) - 26) < 1)
        #expect(gam.map { $0.max()! }.min()! < 178 && gam.map { $0.max()! }.max()! > 178)
        let par = try runs("par").map(delays)
        #expect(par.allSatisfy { $0.max()! <= 300 })
        let tails = par.map { quantile(0.99, of: $0) }
        #expect(tails.min()! < 113 && tails.max()! > 113)
        let wifi = try runs("wifi-lab").map(delays)
        // In the trace, a fixed playout delay of 117 ms made 1 % of packets late.
        let depths = wifi.map { quantile(0.99, of: $0) }
        #expect(depths.min()! < 117 && depths.max()! > 117)
    }

    @Test func theStepComesAndGoes() throws {
        for run in try runs("step") {
            let values = delays(run)
            #expect(abs(mean(Array(values[0..<1000])) - 15) < 1)
            #expect(abs(mean(Array(values[1000..<2000])) - 95) < 1)
            #expect(abs(mean(Array(values[2000...])) - 15) < 1)
        }
    }
}
