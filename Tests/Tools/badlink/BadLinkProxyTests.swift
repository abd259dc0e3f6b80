import Foundation
import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourRadio
import TenfourSession
import TenfourUV
import Testing

@testable import badlink

/// A client, a proxy and a target on one event loop, over loopback.
private final class Scene {
    let loop: EventLoop
    let proxy: Proxy
    let client: UDPSocket
    let target: UDPSocket
    private(set) var heardByTarget: [UInt8] = []
    private(set) var heardByClient: [UInt8] = []
    private let alarm: LoopTimer

    init(there: NetworkModel, back: NetworkModel = NetworkModel(), seed: UInt64 = 1) throws {
        loop = try EventLoop()
        client = try UDPSocket(on: loop, bindingTo: Endpoint(.loopbackV4, port: 0))
        target = try UDPSocket(on: loop, bindingTo: Endpoint(.loopbackV4, port: 0))
        proxy = try Proxy(
            Proxy.Configuration(
                listen: Endpoint(.loopbackV4, port: 0), target: target.localEndpoint, carriesRTCP: false, there: there,
                back: back, seed: seed),
            on: loop)
        alarm = try loop.makeTimer { [unowned loop] in
            Issue.record("no datagram arrived for ten seconds")
            loop.stop()
        }
    }

    /// Sends each byte in a datagram of its own, in order. The target answers each with its successor. Runs until
    /// `isOver`, for at most ten seconds.
    func run(sending bytes: [UInt8], until isOver: @escaping (Scene) -> Bool) {
        target.receive { [unowned self] datagram, sender, _ in
            heardByTarget.append(datagram[0])
            target.send([datagram[0] &+ 1].span, to: sender)
            if isOver(self) { loop.stop() }
        }
        client.receive { [unowned self] datagram, _, _ in
            heardByClient.append(datagram[0])
            if isOver(self) { loop.stop() }
        }
        for byte in bytes { client.send([byte].span, to: proxy.localEndpoint) }
        alarm.arm(at: loop.now + .seconds(10))
        loop.run()
    }

    func tally(_ name: String) -> LinkTally? { proxy.tallies.first { $0.name == name }?.tally }
}

struct BadLinkProxyTests {
    @Test func aPacketGoesThereAndItsAnswerComesBack() throws {
        let scene = try Scene(there: NetworkModel())
        scene.run(sending: [7]) { !$0.heardByClient.isEmpty }
        #expect(scene.heardByTarget == [7])
        #expect(scene.heardByClient == [8])
        #expect(scene.tally("there")?.sent == 1 && scene.tally("back")?.sent == 1)
    }

    @Test func onlyPacketsThatTheModelLosesAreLost() throws {
        let network = NetworkModel(loss: .random(0.5), delay: .milliseconds(1), keepsOrder: true)
        var model = EmulatedLink(network, seed: 9)
        let bytes = [UInt8](0..<16)
        let surviving = bytes.filter { _ in model.fate(ofPacket: 1, at: .start) != .lost(.chance) }
        #expect((4...12).contains(surviving.count))
        let scene = try Scene(there: network, seed: 9)
        scene.run(sending: bytes) { $0.heardByClient.count == surviving.count }
        #expect(scene.heardByTarget == surviving)
        #expect(scene.heardByClient == surviving.map { $0 + 1 })
        #expect(scene.tally("there")?.lost == [.chance: 16 - surviving.count])
    }

    @Test func aPacketIsNeverEarly() throws {
        let scene = try Scene(
            there: NetworkModel(delay: .milliseconds(12)), back: NetworkModel(delay: .milliseconds(5)))
        scene.run(sending: [1, 2, 3]) { $0.heardByClient.count == 3 }
        #expect(try #require(scene.tally("there")).delays.least >= 12_000)
        #expect(try #require(scene.tally("back")).delays.least >= 5000)
    }

    @Test func heldBackPacketsAreOvertakenAndCounted() throws {
        let trace = Trace(packets: [.delayed(.milliseconds(60)), .delayed(.zero), .delayed(.milliseconds(30))])
        let scene = try Scene(there: NetworkModel(trace: trace))
        scene.run(sending: [10, 20, 30]) { $0.heardByClient.count == 3 }
        #expect(scene.heardByTarget == [20, 30, 10])
        #expect(scene.tally("there")?.reordered == 1)
    }

    @Test func everyPacketCanComeTwice() throws {
        let scene = try Scene(there: NetworkModel(duplication: Duplication(share: 1)))
        scene.run(sending: [1, 2]) { $0.heardByClient.count == 4 }
        #expect(scene.heardByTarget.sorted() == [1, 1, 2, 2])
        #expect(scene.tally("there")?.doubled == 2 && scene.tally("there")?.sent == 4)
    }
}

struct ReportTests {
    @Test func theReportIsJSON() throws {
        var tally = LinkTally()
        tally.received = 3
        tally.lost[.queueFull] = 2
        tally.countSent(
            index: 0, isSecond: false, received: .start, due: .start + .milliseconds(2),
            at: .start + .microseconds(2500))
        let report = LinkReport(
            there: "a \"b\" \\ \u{1}", back: "", seed: 7, paths: [("there", tally), ("back", LinkTally())])
        let object = try #require(try JSONSerialization.jsonObject(with: Data(report.json.utf8)) as? [String: Any])
        #expect(object["there"] as? String == "a \"b\" \\ \u{1}")
        let paths = try #require(object["paths"] as? [String: [String: Any]])
        let there = try #require(paths["there"])
        #expect(there["in"] as? Int == 3 && there["out"] as? Int == 1)
        #expect((there["lost"] as? [String: Int])?["queue_full"] == 2)
        #expect((there["delay_ms"] as? [String: Double])?["max"] == 2.5)
        #expect((there["own_lateness_ms"] as? [String: Double])?["mean"] == 0.5)
        #expect(
            report.lines == [
                "there: 3 in, 1 out, 2 dropped by the full queue, delay 2.5 ms on average, 2.5 at 95%, 2.5 at most"
            ])
    }

    @Test func quantilesAreThreePercentRight() {
        var histogram = Histogram()
        for value in 1...100_000 { histogram.add(value) }
        #expect(histogram.least == 1 && histogram.most == 100_000)
        #expect(histogram.mean == 50_000.5)
        for (share, exact) in [(0.00002, 2), (0.0005, 50), (0.01, 1000), (0.5, 50_000), (0.95, 95_000), (1, 100_000)] {
            let found = histogram.quantile(share)
            #expect(found >= exact && Double(found) <= Double(exact) * 1.032)
        }
        #expect(Histogram().quantile(0.5) == 0)
        histogram.add(.max)
        #expect(histogram.most == .max)
    }
}

struct AddressTests {
    @Test func addressesAreReadAsPeopleWriteThem() throws {
        #expect(try listenEndpoint(":6000") == Endpoint(.anyV6, port: 6000))
        #expect(try listenEndpoint("192.0.2.1:0") == Endpoint(.v4(0xC000_0201), port: 0))
        #expect(try targetEndpoint("[::1]:5004") == Endpoint(.v6(high: 0, low: 1, scope: 0), port: 5004))
    }

    @Test(arguments: ["6000", "", ":", "::1:6000", "host:65536", "host:-1", ":5004", "192.0.2.1:0"])
    func invalidTargetsAreRefused(text: String) {
        let error = #expect(throws: RadioError.self) { try targetEndpoint(text) }
        #expect(error?.kind == .usage)
    }
}
