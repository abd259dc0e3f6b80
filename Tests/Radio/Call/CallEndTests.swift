import TenfourAudioCore
import TenfourSession
import Testing

@testable import TenfourCall

struct CallEndTests {
    /// Alice's machine loses its power.
    @Test(arguments: [false, true]) func aPartnerThatVanishesIsLost(isCaller: Bool) {
        let line = CallLine()
        isCaller ? line.connect() : line.connect(from: bob, to: alice)
        line.run(.seconds(30))
        #expect(line.partner(bob) == alice, "silence alone ends no call")
        line.unreachable = [alice]
        line.run(StationCall.lossTime - .seconds(3))
        #expect(line.events(bob).isEmpty)
        line.run(.seconds(4))
        #expect(line.events(bob) == [.ended(.lost)])
        #expect(line.call(from: mallory, to: bob))
        line.run(.seconds(1))
        #expect(line.events(bob) == [.incoming(mallory, name: "Mallory")])
    }

    /// A station that answers no messages of a call, but talks or reports, is there.
    @Test func mediaOfThePartnerKeepsTheCall() {
        let line = CallLine()
        line.connect()
        line.unreachable = [alice]
        for _ in 0..<10 {
            line.run(.seconds(6))
            line.change(bob) { $0.heardMedia(from: Endpoint(alice.address, port: alice.port + 1), at: $1) }
        }
        #expect(line.partner(bob) == alice)
        for _ in 0..<3 {
            line.run(.seconds(6))
            line.change(bob) { $0.heardMedia(from: mallory, at: $1) }
        }
        #expect(line.events(bob) == [.ended(.lost)])
    }

    /// An hour without any media.
    @Test(arguments: 0..<10) func aSilentCallSurvivesABadNetwork(seed: UInt64) {
        let line = CallLine(seed: seed)
        line.connect()
        line.loss = 0.3
        line.jitter = .milliseconds(200)
        line.run(.seconds(3_600))
        #expect(line.partner(alice) == bob)
        #expect(line.partner(bob) == alice)
        #expect(line.sent(from: bob) < 5_000)
    }

    /// All that says good-bye is lost: the other end does not talk to nobody.
    @Test func aLostGoodbyeLosesTheCall() {
        let line = CallLine()
        line.connect()
        line.loss = 1
        line.change(alice) { $0.hangUp(at: $1) }
        line.run(.seconds(2))
        line.loss = 0
        line.run(StationCall.lossTime)
        #expect(line.partner(bob) == nil)
        #expect(line.isQuiet)
    }

    /// The caller calls on, because the refusal after a minute of ringing was lost.
    @Test(arguments: 1...4) func aLostRefusalRingsNoMore(lossCount: Int) {
        let line = CallLine()
        #expect(line.call(from: alice, to: bob))
        line.run(.seconds(30))
        line.lost = { from, message in message.kind == .refusal && from == bob }
        line.lossLimit = lossCount
        line.run(.seconds(36))
        #expect(line.events(bob) == [.incoming(alice, name: "Alice"), .ended(.missed(name: "Alice"))])
        #expect(line.events(alice) == [.rings(name: "Bob"), .ended(.refused(.notAnswered))])
        #expect(line.isQuiet)
    }

    /// Bob accepts, changes his mind, and Alice hears only of the second.
    @Test(arguments: 0...3) func aCallThatIsAcceptedAndHungUpRingsNoMore(endLossCount: Int) {
        let line = CallLine()
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(100))
        line.lost = { _, message in message.kind == .acceptance || message.kind == .end }
        line.lossLimit = endLossCount + 1
        line.change(bob) {
            $0.accept(at: $1)
            $0.hangUp(at: $1)
        }
        line.run(.seconds(20))
        #expect(line.events(bob) == [.incoming(alice, name: "Alice")])
        #expect(line.events(alice) == [.rings(name: "Bob"), .ended(.hungUp)])
        #expect(line.isQuiet)
    }

    /// Alice takes her call back, and Bob, who has not heard of it, accepts.
    @Test func anAcceptanceOfACallThatIsOverIsAnswered() {
        let line = CallLine()
        #expect(line.call(from: alice, to: bob))
        line.run(.milliseconds(100))
        line.lost = { from, message in message.kind == .end && from == alice }
        line.lossLimit = 3
        line.change(alice) { $0.hangUp(at: $1) }
        line.run(.seconds(2))
        line.change(bob) { $0.accept(at: $1) }
        line.run(.milliseconds(100))
        #expect(line.events(bob) == [.incoming(alice, name: "Alice"), .ended(.hungUp)])
        #expect(line.isQuiet)
    }

    @Test func onlyTheCalleeHasAnswered() {
        let line = CallLine()
        line.connect()
        #expect(line.change(alice) { alice, _ in alice.hasAnswered } == false)
        #expect(line.change(bob) { bob, _ in bob.hasAnswered } == true)
        #expect(line.change(mallory) { mallory, _ in mallory.hasAnswered } == nil)
    }
}
