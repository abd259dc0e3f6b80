import Foundation
import TenfourAudioCore
import TestSupport
import Testing

/// Whatever is restarted or fails in whatever order, somebody on NATS without the cluster key lets nobody hear old audio.
struct ReplayTests {
    private enum Step: String, CaseIterable {
        case talkersRelayRestarts
        case listenersRelayRestarts
        case outageBeginsOrEnds
        /// So long that a relay is gone in an outage.
        case timePasses
        case everythingIsReplayed
    }

    /// The length of each order of steps. Tools/test --long has 6.
    private static let length = ProcessInfo.processInfo.environment["TENFOUR_LONG"] == nil ? 4 : 6

    /// The time within which a talker is heard after whatever happened. A message takes 5 to 10 ms.
    private static let limit = Duration.milliseconds(200)

    private static let orders: [[Step]] = (0..<length).reduce([[]]) { orders, _ in
        orders.flatMap { order in Step.allCases.map { order + [$0] } }
    }

    private func perform(_ step: Step, in scene: ReplayScene) {
        switch step {
        case .talkersRelayRestarts: scene.restartTalkersRelay()
        case .listenersRelayRestarts: scene.restartListenersRelay()
        case .outageBeginsOrEnds: if scene.isCut { scene.heal() } else { scene.cut() }
        case .timePasses: scene.talk(.milliseconds(1_600))
        case .everythingIsReplayed: scene.replay()
        }
        scene.talk(.milliseconds(60))
    }

    @Test(arguments: Step.allCases.indices) func noOrderOfFaultsLetsOldAudioBeHeard(_ first: Int) {
        var longest = Duration.zero
        for order in Self.orders where order[0] == Step.allCases[first] {
            let scene = ReplayScene()
            for step in order { perform(step, in: scene) }
            scene.heal()
            scene.replay()
            let time = scene.timeUntilHeard(atMost: .seconds(8))
            scene.replay()
            scene.talk(.milliseconds(100))
            #expect(scene.oldCount == 0, "\(order.map(\.rawValue))")
            #expect(time.map { $0 <= Self.limit } ?? false, "\(order.map(\.rawValue))")
            longest = max(longest, time ?? .seconds(8))
        }
        print("heard again within \(longest / .milliseconds(1)) ms")
    }

    // MARK: - At any moment

    private enum Fault: String, CaseIterable {
        case talkersRelayRestarts, listenersRelayRestarts, bothRestart, outage
    }

    /// The attacker replays all at a moment of the handshake, and lets nothing but PRESENCE pass.
    @Test(arguments: Fault.allCases.indices) func aReplayAtAnyMomentOfTheHandshakeIsNotHeard(_ fault: Int) {
        for milliseconds in stride(from: 0, through: 150, by: 3) {
            let scene = ReplayScene()
            switch Fault.allCases[fault] {
            case .talkersRelayRestarts: scene.restartTalkersRelay()
            case .listenersRelayRestarts: scene.restartListenersRelay()
            case .bothRestart:
                scene.restartTalkersRelay()
                scene.restartListenersRelay()
            case .outage:
                scene.cut()
                scene.talk(.seconds(3))
                scene.heal()
            }
            let before = scene.heardCount
            scene.hold(but: [1])
            scene.run(.milliseconds(milliseconds))
            scene.replay()
            scene.run(.milliseconds(100))
            scene.replay()
            scene.run(.milliseconds(100))
            #expect(scene.heardCount == before, "\(milliseconds) ms after \(Fault.allCases[fault])")
            scene.release()
            #expect(scene.timeUntilHeard(atMost: .seconds(3)) != nil)
            #expect(scene.oldCount == 0)
        }
    }

    // MARK: - Delay

    /// The attacker keeps messages back, and lets them arrive later. Packets that the listener gets within two seconds may be heard.
    @Test(arguments: [500, 1_400, 1_600, 3_000, 6_000], [[], [1], [1, 2], [1, 2, 8], [2, 3]] as [Set<UInt8>])
    func whatIsKeptBackIsHeardWithinTwoSecondsOrNever(milliseconds: Int, passed: Set<UInt8>) {
        for restarts in [false, true] {
            let scene = ReplayScene()
            scene.hold(but: passed)
            if restarts { scene.restartListenersRelay() }
            scene.talk(.milliseconds(milliseconds))
            scene.release()
            let time = scene.timeUntilHeard(atMost: .seconds(3))
            scene.talk(.milliseconds(200))
            #expect(scene.oldCount == 0)
            #expect(time.map { $0 <= Self.limit } ?? false, "\(String(describing: time))")
        }
    }

    /// Claims have times by the relays' clocks. That of a relay that is gone does not keep its talker out.
    @Test(arguments: [-10, 10]) func aRelayWhoseClockIsMinutesWrongIsHeardAndReplaysAreNot(minutes: Int) {
        let scene = ReplayScene()
        scene.restartTalkersRelay(behind: .seconds(60 * minutes))
        scene.replay()
        #expect(scene.timeUntilHeard(atMost: .seconds(10)).map { $0 <= .seconds(4) } ?? false)
        scene.replay()
        scene.restartListenersRelay()
        scene.replay()
        #expect(scene.timeUntilHeard(atMost: Self.limit) != nil)
        scene.replay()
        scene.talk(.milliseconds(100))
        #expect(scene.oldCount == 0)
    }

    @Test func whatArrivedWhileTheMachineSleptIsNotHeard() {
        let scene = ReplayScene()
        scene.hold(but: [])
        scene.talk(.seconds(1))
        let before = scene.heardCount
        scene.listenersMachineHasSlept()
        scene.release()
        scene.run(.milliseconds(100))
        #expect(scene.heardCount == before)
        #expect(scene.timeUntilHeard(atMost: .milliseconds(100)) != nil)
        #expect(scene.oldCount == 0)
    }

    /// A message takes 0.4 s.
    @Test func aSlowNetworkLosesNoSpeech() {
        let scene = ReplayScene()
        scene.cluster.delay = 390_000...400_000
        scene.talk(.seconds(3))
        let before = scene.heardCount
        scene.talk(.seconds(20))
        #expect(scene.heardCount - before == 1_000)
        #expect(scene.oldCount == 0)
    }
}
