import TenfourAudioCore
import TenfourNetworkEmulator
import Testing

struct ParameterTests {
    @Test func aNetworkIsMadeFromWords() throws {
        let network = try NetworkModel(
            parsing:
                "loss=5% burst=3 delay=40ms jitter=normal:10ms reorder=1% duplicate=0.5% rate=1mbit queue=64kB order=kept"
        )
        #expect(
            network
                == NetworkModel(
                    bottleneck: Bottleneck(bitsPerSecond: 1_000_000, queue: .byteCount(64_000)),
                    loss: .bursts(share: 0.05, meanLength: 3), delay: .milliseconds(40),
                    jitter: .normal(deviation: .milliseconds(10)), keepsOrder: true,
                    reordering: Reordering(share: 0.01),
                    duplication: Duplication(share: 0.005)))
    }

    @Test func lossAndBurstComeInEitherOrder() throws {
        #expect(try NetworkModel(parsing: "burst=3 loss=5%") == NetworkModel(parsing: "loss=5% burst=3"))
    }

    @Test func parametersChangeANamedNetwork() throws {
        var network = try #require(NetworkModel(named: "wifi-lab"))
        network.loss = .random(0.02)
        network.stalls = nil
        network.delay = .microseconds(1500)
        #expect(try NetworkModel(parsing: "wifi-lab loss=2% stalls=none delay=1.5ms") == network)
    }

    @Test(
        arguments: [
            ("constant:5ms", .constant(.milliseconds(5))),
            ("uniform:0-40ms", .uniform(.zero ... .milliseconds(40))),
            ("normal:10ms", .normal(mean: .milliseconds(30), deviation: .milliseconds(10), limit: .milliseconds(60))),
            (
                "normal:20ms:5ms",
                .normal(mean: .milliseconds(20), deviation: .milliseconds(5), limit: .milliseconds(35))
            ),
            ("exponential:20ms", .exponential(mean: .milliseconds(20))),
            ("gamma:2:250us", .gamma(shape: 2, mean: .microseconds(250))),
            ("pareto:5ms:1.8:0.3s", .pareto(least: .milliseconds(5), shape: 1.8, limit: .milliseconds(300))),
        ] as [(String, Distribution)]) func jitterHasManyForms(text: String, jitter: Distribution) throws
    {
        #expect(try NetworkModel(parsing: "jitter=" + text).jitter == jitter)
    }

    @Test func stallsDetoursAndSpellsHaveTheirForms() throws {
        #expect(
            try NetworkModel(parsing: "stalls=100ms-200ms/2.5s").stalls
                == Stalls(length: .milliseconds(100) ... .milliseconds(200), meanInterval: .milliseconds(2500)))
        #expect(
            try NetworkModel(parsing: "detour=80ms:20s-40s/60s").detour
                == Detour(extra: .milliseconds(80), during: .seconds(20) ..< .seconds(40), every: .seconds(60)))
        #expect(
            try NetworkModel(parsing: "detour=80ms:20s-40s").detour
                == Detour(extra: .milliseconds(80), during: .seconds(20) ..< .seconds(40)))
        #expect(
            try NetworkModel(parsing: "gilbert=2%:8%:1%:50%").loss
                == .gilbertElliott(toBad: 0.02, toGood: 0.08, lossInGood: 0.01, lossInBad: 0.5))
    }

    @Test(arguments: [
        "loss=5", "loss=101%", "loss=-1%", "loss=nan%", "loss=", "loss=%", "loss=5%:3", "burst=0.5", "burst=x",
        "gilbert=1%:2%",
        "delay=40", "delay=-40ms", "delay=2h", "delay=3601s", "delay=ms", "jitter=10ms", "jitter=normal",
        "jitter=normal:x",
        "jitter=uniform:9ms-3ms", "jitter=gamma:0:2ms", "jitter=pareto:5ms:0:3s", "jitter=pareto:5ms:2:1ms",
        "order=maybe",
        "stalls=100ms-200ms", "stalls=5ms/1s", "stalls=1ms-2ms/0", "detour=80ms", "detour=1ms:9s-2s",
        "detour=1ms:1s-9s/2s",
        "reorder=1", "reorder=1%:x", "duplicate=1%:2ms:3ms", "rate=0bit", "rate=1", "rate=99999gbit",
    ]) func malformedParametersAreRefusedWithTheirSyntax(word: String) throws {
        let error = #expect(throws: NetworkParameterError.self) { try NetworkModel(parsing: word) }
        let parameter = try #require(NetworkParameter(rawValue: String(word.prefix { $0 != "=" })))
        #expect(error == .unreadable(parameter, String(word.drop { $0 != "=" }.dropFirst())))
        #expect(try #require(error).description.contains(parameter.syntax))
    }

    @Test func unknownParametersAreRefusedByName() {
        #expect(throws: NetworkParameterError.unknownNetwork("carrier-pigeon")) {
            try NetworkModel(parsing: "carrier-pigeon")
        }
        #expect(throws: NetworkParameterError.unknownParameter("colour")) {
            try NetworkModel(parsing: "lan colour=red")
        }
        #expect(throws: NetworkParameterError.unknownParameter("lte")) { try NetworkModel(parsing: "lan lte") }
        #expect(throws: NetworkParameterError.needsRate(.queue)) { try NetworkModel(parsing: "queue=10ms") }
        #expect(
            NetworkParameterError.unknownNetwork("x\u{7}").description.hasPrefix(
                "there is no network “x\u{FFFD}”: write one of lan,"))
    }

    @Test(arguments: NamedNetwork.all) func everyNamedNetworkIsWhatItsParametersSay(network: NamedNetwork) throws {
        #expect(NetworkModel(named: network.name) == network.model)
        #expect(try NetworkModel(parsing: network.name) == network.model)
        #expect(try NetworkModel(parsing: network.model.description) == network.model)
        #expect(!network.summary.isEmpty)
    }

    @Test func familiesTakeAnyPercentage() {
        #expect(NetworkModel(named: "b0") == NetworkModel(loss: .random(0)))
        #expect(NetworkModel(named: "b2.5") == NetworkModel(loss: .random(0.025)))
        #expect(NetworkModel(named: "g100") == NetworkModel(loss: .bursts(share: 1, meanLength: 3)))
        for name in ["", "b", "b101", "b-1", "binf", "b1e1", "g5%", "x5", "5", "LAN "] {
            #expect(NetworkModel(named: name) == nil)
        }
    }
}
