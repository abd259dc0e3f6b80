import Glibc
import TenfourAudioCore
import TenfourPushToTalk
import TestSupport
import Testing

@Suite(.onItsOwnThread, .inRealTime) struct MicrophoneLeaseTests {
    @Test func aPressOpensBeforeItReturnsAndTheTailEndsByItself() throws {
        let microphone = try Microphone()
        microphone.lease.press(.keyboard)
        #expect(microphone.isOpen && microphone.lease.status.holders == [.keyboard])
        let released = ContinuousClock.now
        microphone.lease.release(.keyboard)
        #expect(microphone.isOpen)
        #expect(microphone.becomes(open: false))
        #expect(ContinuousClock.now - released >= .milliseconds(150))
        #expect(microphone.events == [.opened(.keyboard), .closed(.released, .keyboard)])
    }

    @Test func theTimeOutComesByItself() throws {
        var settings = PushToTalk.Settings()
        (settings.timeOut, settings.warning, settings.holdOff) =
            (.milliseconds(80), .milliseconds(40), .milliseconds(30))
        let microphone = try Microphone(settings)
        microphone.lease.press(.keyboard)
        #expect(microphone.becomes(open: false) && microphone.lease.status.state == .timedOut)
        microphone.lease.release(.keyboard)
        #expect(waits { microphone.lease.status.state == .closed })
        #expect(
            microphone.events == [
                .opened(.keyboard), .willTimeOut(in: .milliseconds(40)), .closed(.timedOut, .keyboard), .available,
            ])
    }

    @Test func stoppingClosesAndEndsEverything() throws {
        let microphone = try Microphone()
        let pedal = Pedal()
        microphone.lease.attach(pedal)
        microphone.lease.toggle(.session)
        microphone.lease.stop()
        #expect(!microphone.isOpen && pedal.isStopped)
        microphone.lease.press(.keyboard)
        #expect(!microphone.isOpen)
    }

    @Test func theEndOfTheLeaseClosesTheMicrophone() throws {
        let isOpen = Pedal()
        do {
            let lease = try MicrophoneLease { isOpen.isDown = $0 }
            lease.press(.keyboard)
            #expect(isOpen.isDown)
        }
        #expect(!isOpen.isDown)
    }

    @Test func aSwitchHoldsTheMicrophoneUntilItIsReleasedOrGone() throws {
        let microphone = try Microphone()
        let pedal = Pedal()
        microphone.lease.attach(pedal)
        pedal.report(.pressed, MicrophoneLeaseTests.now)
        #expect(microphone.isOpen && microphone.lease.status.holders == [.device("pedal")])
        pedal.report(.gone, MicrophoneLeaseTests.now)
        #expect(!microphone.isOpen)
        pedal.report(.back, MicrophoneLeaseTests.now)
        #expect(!microphone.isOpen)
        pedal.report(.pressed, MicrophoneLeaseTests.now)
        pedal.report(.released, MicrophoneLeaseTests.now)
        #expect(microphone.becomes(open: false))
    }

    /// A device whose events are stamped by another clock does not keep the microphone open.
    @Test(arguments: [Instant.start, Instant(nanoseconds: .max)])
    func theTimeOfASwitchMayBeWrong(time: Instant) throws {
        let microphone = try Microphone()
        let pedal = Pedal()
        microphone.lease.attach(pedal)
        pedal.report(.pressed, time)
        #expect(microphone.isOpen)
        let remaining = try #require(microphone.lease.status.remaining)
        #expect(remaining > .seconds(170) && remaining <= .seconds(180))
        pedal.report(.released, time)
        #expect(microphone.becomes(open: false))
    }

    @Test func aPermissionIsAskedForAndGiven() throws {
        let microphone = try Microphone(permission: .needed)
        microphone.lease.press(.keyboard)
        #expect(!microphone.isOpen && microphone.events == [.permissionRequested])
        microphone.lease.granted()
        #expect(microphone.isOpen)
        microphone.lease.revoked("an emergency")
        #expect(!microphone.isOpen)
        microphone.lease.setPermission(.notNeeded)
        microphone.lease.release(.keyboard)
        microphone.lease.press(.keyboard)
        #expect(microphone.isOpen)
        microphone.lease.refused(nil)
        #expect(microphone.isOpen, "nobody asked")
    }

    private static var now: Instant {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// A switch that a test presses, and a flag.
private final class Pedal: TransmitSwitch, @unchecked Sendable {
    let name = "pedal"
    var isStopped = false
    var isDown = false
    private var reporter: (@Sendable (TransmitSwitchEvent) -> Void)?

    func start(_ report: @escaping @Sendable (TransmitSwitchEvent) -> Void) { reporter = report }
    func stop() { isStopped = true }
    func report(_ change: TransmitSwitchEvent.Change, _ time: Instant) {
        reporter?(TransmitSwitchEvent(change, at: time))
    }
}
