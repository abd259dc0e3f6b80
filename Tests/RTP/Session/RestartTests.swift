import TenfourAudioCore
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

/// A station that was killed and started again has another SSRC and the same CNAME: it is there once.
struct RestartTests {
    private let first = SSRC(9)
    private let second = SSRC(8)

    private func session() -> RTPSession {
        RTPSession(
            identity: Identity(ssrc: SSRC(1), seed: 1),
            configuration: RTPSessionConfiguration(remotes: [alice, bob]), at: .start)
    }

    /// One second of audio that begins at `start`.
    private func talk(_ ssrc: SSRC, to listener: inout RTPSession, from sender: Endpoint = alice, at start: Double) {
        for number in 0..<50 {
            let now = start + Double(number) / 50
            listener.wait(until: seconds(now))
            _ = listener.receive(media(ssrc, number), from: sender, at: seconds(now))
        }
    }

    private func describe(
        _ ssrc: SSRC, to listener: inout RTPSession, as name: String = "a", from sender: Endpoint = alice,
        at now: Double
    ) {
        listener.wait(until: seconds(now))
        _ = listener.receive(report(ssrc, canonicalName: name, name: "Alice"), from: sender, at: seconds(now))
    }

    private func present(_ listener: borrowing RTPSession, at now: Double) -> [SSRC] {
        listener.participants(at: seconds(now)).map(\.ssrc)
    }

    @Test func aTalkerThatWasRestartedIsThereOnce() {
        var listener = session()
        talk(first, to: &listener, at: 1)
        describe(first, to: &listener, at: 2)
        // It is killed, and talks again 600 ms later.
        talk(second, to: &listener, at: 2.6)
        describe(second, to: &listener, at: 2.8)
        #expect(present(listener, at: 2.8) == [first, second])
        _ = listener.takeEvents()
        listener.wait(until: seconds(2.99))
        #expect(present(listener, at: 2.99).count == 2)
        listener.wait(until: seconds(3))
        #expect(present(listener, at: 3) == [second])
        #expect(listener.takeEvents().contains(.sourceLeft(first, reason: "restarted")))
    }

    @Test func aPredecessorThatHasBeenSilentLeavesAtOnce() {
        var listener = session()
        describe(first, to: &listener, at: 1)
        #expect(listener.takeEvents() == [.reporterAppeared(first, "Alice", from: alice)])
        describe(second, to: &listener, at: 4)
        #expect(present(listener, at: 4) == [second])
        #expect(
            listener.takeEvents() == [
                .reporterLeft(first, reason: "restarted"), .reporterAppeared(second, "Alice", from: alice),
            ])
    }

    @Test func aListenerThatWasRestartedAtOnceIsThereOnceAfterASecond() {
        var listener = session()
        describe(first, to: &listener, at: 1)
        describe(second, to: &listener, at: 1.5)
        #expect(present(listener, at: 1.5) == [first, second])
        listener.wait(until: seconds(2))
        #expect(present(listener, at: 2) == [second])
    }

    @Test func anotherNameOrAnotherHostIsAnotherStation() {
        var listener = session()
        describe(first, to: &listener, at: 1)
        describe(second, to: &listener, as: "b", at: 4)
        describe(SSRC(7), to: &listener, from: bob, at: 4)
        listener.wait(until: seconds(8))
        #expect(present(listener, at: 8) == [first, second, SSRC(7)])
    }

    /// Two programs of one host may have the same CNAME. The one that is removed wrongly comes back, and then stays.
    @Test func twoStationsOfOneNameAreBothThere() {
        var listener = session()
        for time in 0..<5 {
            describe(first, to: &listener, at: 1 + Double(time) * 5)
            describe(second, to: &listener, at: 3 + Double(time) * 5)
        }
        #expect(Set(present(listener, at: 23)) == [first, second])
        let departures = listener.takeEvents().filter { if case .reporterLeft = $0 { true } else { false } }
        #expect(departures == [.reporterLeft(first, reason: "restarted"), .reporterLeft(second, reason: "restarted")])
    }

    /// Stations that were restarted many times leave nothing behind.
    @Test func hundredsOfRestartsLeaveOneStation() {
        var listener = session()
        for number in 0..<500 { describe(SSRC(UInt32(100 + number)), to: &listener, at: 1 + Double(number) * 2) }
        #expect(present(listener, at: 999) == [SSRC(599)])
    }
}
