import TestSupport
import Testing

@testable import TenfourDBus

private let daemon = BusObject(
    service: "org.freedesktop.RealtimeKit1", path: "/org/freedesktop/RealtimeKit1",
    interface: "org.freedesktop.RealtimeKit1")

@Suite(.onItsOwnThread) struct MessageBusTests {
    private func failure(_ body: () throws(BusError) -> Void) -> BusError? {
        do throws(BusError) {
            try body()
            return nil
        } catch {
            return error
        }
    }

    @Test func propertiesAreReadInTheirOwnTypes() throws {
        let mock = try MockRealtimeKit(.grant)
        let bus = try MessageBus(address: mock.address, until: .now + .seconds(30))
        #expect(try bus.property("MaxRealtimePriority", of: daemon) == .int32(20))
        #expect(try bus.property("RTTimeUSecMax", of: daemon) == .int64(200_000))
        let wrong = try MockRealtimeKit(.wrongTypes)
        let other = try MessageBus(address: wrong.address, until: .now + .seconds(30))
        #expect(try other.property("MaxRealtimePriority", of: daemon) == .text("20"))
    }

    @Test func anErrorIsToldByItsName() throws {
        let mock = try MockRealtimeKit(.deny)
        let bus = try MessageBus(address: mock.address, until: .now + .seconds(30))
        let refusal = failure { () throws(BusError) in
            try bus.call("MakeThreadRealtime", of: daemon, .uint64(1), .uint32(5))
        }
        #expect(refusal == .refused(name: "org.freedesktop.DBus.Error.AccessDenied", message: "not you"))
        // The method takes arguments of other types.
        let mistake = failure { () throws(BusError) in try bus.call("MakeThreadRealtime", of: daemon, .text("x")) }
        guard case .refused = mistake else {
            Issue.record("\(String(describing: mistake))")
            return
        }
    }

    @Test func aNameThatNobodyHasIsNoService() throws {
        let mock = try MockRealtimeKit(.none)
        let bus = try MessageBus(address: mock.address, until: .now + .seconds(30))
        #expect(
            failure { () throws(BusError) in _ = try bus.property("MaxRealtimePriority", of: daemon) } == .noService)
    }

    /// The bus tells others when a connection is closed.
    @Test func aConnectionIsClosedWhenItIsReleased() throws {
        let mock = try MockRealtimeKit(.none)
        let observer = try MessageBus(address: mock.address, callLimit: .seconds(30))
        try observer.addMatch("type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'")
        do {
            let limited = try MessageBus(address: mock.address, until: .now + .seconds(30))
            #expect(try limited.owner(of: "org.example.nobody") == nil)
            let unlimited = try MessageBus(address: mock.address, callLimit: .seconds(30))
            #expect(try unlimited.owner(of: "org.freedesktop.DBus") == "org.freedesktop.DBus")
        }
        var closed: Set<BusValue> = []
        let end = ContinuousClock.now + .seconds(60)
        while closed.count < 2, .now < end {
            try observer.wait(orFor: -1, atMost: 100)
            while let signal = try observer.nextSignal() {
                #expect(signal.sender == "org.freedesktop.DBus")
                if signal.member == "NameOwnerChanged", signal.arguments.last == .text("") {
                    closed.insert(signal.arguments[0])
                }
            }
        }
        #expect(closed.count == 2)
    }

    @Test func noBusIsReportedAtOnce() {
        let folder = Folder()
        let end = failure { () throws(BusError) in
            _ = try MessageBus(address: "unix:path=\(folder("bus"))", until: .now + .seconds(30))
        }
        guard case .noBus = end else {
            Issue.record("\(String(describing: end))")
            return
        }
    }

    /// Left to itself libsystemd would wait for 25 s.
    @Test(arguments: [MockRealtimeKit.Mood.deaf, .hang]) func nobodyIsWaitedForBeyondTheDeadline(
        mood: MockRealtimeKit.Mood
    ) throws {
        let mock = try MockRealtimeKit(mood)
        let start = ContinuousClock.now
        let end = failure { () throws(BusError) in
            let bus = try MessageBus(address: mock.address, until: .now + .milliseconds(300))
            try bus.call("MakeThreadRealtime", of: daemon, .uint64(1), .uint32(5))
        }
        #expect(end == .timedOut)
        #expect(ContinuousClock.now - start < .seconds(15))
    }

    @Test func aMachineWithoutLibsystemdIsReported() {
        let end = failure { () throws(BusError) in _ = try openSDBus("libsystemd-none.so.0") }
        guard case .noLibrary(let words) = end else {
            Issue.record("\(String(describing: end))")
            return
        }
        #expect(words.contains("libsystemd-none"))
    }
}
