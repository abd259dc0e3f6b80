/// A network model with a name and a description.
///
/// A network named after a kind of network (`lan` … `satellite`) is one direction of a typical link for one voice
/// stream. Its delays and rates follow the publications that `summary` names; its other values are our estimates. The
/// other networks are laboratory traces for comparing receivers: each has one impairment, and assumes one packet every
/// 20 ms.
public struct NamedNetwork: Hashable, Sendable {
    public var name: String
    /// A description in one line, with the source of the figures.
    public var summary: String
    public var model: NetworkModel

    /// The fixed networks, and the networks of the families bN and gN that our laboratory uses.
    public static let all: [NamedNetwork] = places + laboratory
}

extension NetworkModel {
    /// The network named `name`, in lower case: one of `NamedNetwork.all`, or `bN` (N percent of the packets lost
    /// independently) or `gN` (N percent lost, in bursts of 3 on average) with N in 0…100; nil for any other name.
    public init?(named name: String) {
        if let known = NamedNetwork.all.first(where: { $0.name == name }) {
            self = known.model
            return
        }
        let number = name.dropFirst()
        guard number.allSatisfy({ $0 == "." || ("0"..."9").contains($0) }), let percent = Double(number),
            (0...100).contains(percent)
        else { return nil }
        switch name.first {
        case "b": self.init(loss: .random(percent / 100))
        case "g": self.init(loss: .bursts(share: percent / 100, meanLength: 3))
        default: return nil
        }
    }
}

private let places = [
    NamedNetwork(
        name: "lan", summary: "a wired office: switches delay packets by tens of microseconds, no loss",
        model: NetworkModel(
            delay: .microseconds(200), jitter: .exponential(mean: .microseconds(50)), keepsOrder: true)),
    NamedNetwork(
        name: "wifi",
        summary:
            "wireless at home with a good signal: retries hide nearly all loss but take milliseconds, scans stall it (our estimate)",
        model: NetworkModel(
            loss: .random(0.001),
            stalls: Stalls(length: .milliseconds(20) ... .milliseconds(60), meanInterval: .seconds(10)),
            delay: .milliseconds(2), jitter: .exponential(mean: .milliseconds(2)), keepsOrder: true)),
    NamedNetwork(
        name: "wifi-bad",
        summary:
            "wireless at the edge of a crowded cell: losses in bursts, and long stalls as in wifi-lab (our estimate)",
        model: NetworkModel(
            loss: .bursts(share: 0.03, meanLength: 3),
            stalls: Stalls(length: .milliseconds(100) ... .milliseconds(200), meanInterval: .milliseconds(2500)),
            delay: .milliseconds(4), jitter: .exponential(mean: .milliseconds(8)), keepsOrder: true)),
    NamedNetwork(
        name: "lte",
        summary: "4G uplink: 35 ms one way and 6 Mbit/s (Huang et al., MobiSys 2012); "
            + "jitter from waiting for transmission grants, a stall by a handover every 20 s",
        model: NetworkModel(
            bottleneck: Bottleneck(bitsPerSecond: 6_000_000, queue: .time(.milliseconds(300))),
            loss: .bursts(share: 0.002, meanLength: 4),
            stalls: Stalls(length: .milliseconds(40) ... .milliseconds(150), meanInterval: .seconds(20)),
            delay: .milliseconds(25), jitter: .gamma(shape: 2, mean: .milliseconds(10)), keepsOrder: true)),
    NamedNetwork(
        name: "3g",
        summary:
            "3G uplink (HSPA): 75 ms one way, 1 Mbit/s, a queue of up to 1 s, long stalls (our estimate)",
        model: NetworkModel(
            bottleneck: Bottleneck(bitsPerSecond: 1_000_000, queue: .time(.seconds(1))),
            loss: .bursts(share: 0.01, meanLength: 3),
            stalls: Stalls(length: .milliseconds(100) ... .milliseconds(300), meanInterval: .seconds(15)),
            delay: .milliseconds(50), jitter: .gamma(shape: 2, mean: .milliseconds(25)), keepsOrder: true)),
    NamedNetwork(
        name: "dsl",
        summary:
            "ADSL uplink with interleaving: 512 kbit/s, and a queue of hundreds of ms (Dischinger et al., IMC 2007)",
        model: NetworkModel(
            bottleneck: Bottleneck(bitsPerSecond: 512_000, queue: .time(.milliseconds(300))),
            loss: .random(0.001), delay: .milliseconds(15), jitter: .exponential(mean: .milliseconds(1)),
            keepsOrder: true)),
    NamedNetwork(
        name: "satellite",
        summary:
            "geostationary: 260 ms (ITU-T G.114 table A.1), jitter from time slots, losses in bursts, 1 Mbit/s (our estimate)",
        model: NetworkModel(
            bottleneck: Bottleneck(bitsPerSecond: 1_000_000, queue: .time(.milliseconds(500))),
            loss: .bursts(share: 0.005, meanLength: 5), delay: .milliseconds(260),
            jitter: .gamma(shape: 2, mean: .milliseconds(15)), keepsOrder: true)),
]

private let laboratory =
    [5, 10, 20].map { percent in
        NamedNetwork(
            name: "b\(percent)", summary: "\(percent)% of the packets lost independently (bN: N percent)",
            model: NetworkModel(loss: .random(Double(percent) / 100)))
    }
    + [5, 10].map { percent in
        NamedNetwork(
            name: "g\(percent)", summary: "\(percent)% lost in bursts of 3 on average (gN: N percent)",
            model: NetworkModel(loss: .bursts(share: Double(percent) / 100, meanLength: 3)))
    }
    + [10, 30].map { deviation in
        NamedNetwork(
            name: "j\(deviation)",
            summary:
                "normally distributed delay of \(deviation * 3) ± \(deviation) ms, cut at 0 and \(deviation * 6); reorders packets",
            model: NetworkModel(jitter: .normal(deviation: .milliseconds(deviation))))
    }
    + [
        NamedNetwork(
            name: "gam",
            summary:
                "exponential delay with a mean of 20 ms; keeping the order makes it gamma-like, with a mean of 26 ms",
            model: NetworkModel(jitter: .exponential(mean: .milliseconds(20)), keepsOrder: true)),
        NamedNetwork(
            name: "par",
            summary:
                "Pareto-distributed delay from 5 to 300 ms with shape 1.8, which has a heavy tail; keeps the order",
            model: NetworkModel(
                jitter: .pareto(least: .milliseconds(5), shape: 1.8, limit: .milliseconds(300)), keepsOrder: true)),
        NamedNetwork(
            name: "wifi-lab",
            summary: "exponential delay with a mean of 3 ms, and a stall of 100-200 ms every 2.5 s; keeps the order",
            model: wifiLab(.none)),
        NamedNetwork(
            name: "wifi-lab-g5", summary: "as wifi-lab, with 5% lost in bursts of 3 on average",
            model: wifiLab(.bursts(share: 0.05, meanLength: 3))),
        NamedNetwork(
            name: "step",
            summary: "normally distributed delay of 15 ± 5 ms, and 80 ms more in the middle third of each minute",
            model: NetworkModel(
                jitter: .normal(deviation: .milliseconds(5)),
                detour: Detour(
                    extra: .milliseconds(80), during: .seconds(20) ..< .seconds(40), every: .seconds(60)))),
    ]

private func wifiLab(_ loss: Loss) -> NetworkModel {
    NetworkModel(
        loss: loss,
        stalls: Stalls(length: .milliseconds(100) ... .milliseconds(200), meanInterval: .milliseconds(2500)),
        jitter: .exponential(mean: .milliseconds(3)), keepsOrder: true)
}
