import TenfourAudioCore
import TenfourPushToTalk
import TenfourSeededRandom
import TestSupport
import Testing

/// Random holders, times and answers. A model beside the state machine knows only who holds.
struct RandomHoldersTests {
    private static let holders: [MicrophoneHolder] = [.keyboard, .signal, .client(1), .client(2), .device("pedal")]

    @Test(arguments: 0..<UInt64(50)) func itIsNeverOpenWithoutALivingHolderBeyondTheTail(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var settings = PushToTalk.Settings()
        settings.timeOut = random.below(2) == 0 ? .seconds(20) : nil
        var microphone = PushToTalk(settings, permission: random.below(2) == 0 ? .needed : .notNeeded)
        var model = HolderModel(settings)
        var now = Instant.start
        for _ in 0..<2_000 {
            now = now + .milliseconds(random.below(10) == 0 ? random.below(8_000) : random.below(200))
            microphone.timeElapsed(at: now)
            model.check(&microphone, at: now)
            let holder = Self.holders[random.below(Self.holders.count)]
            switch random.below(9) {
            case 0, 1: microphone.press(holder, at: now)
            case 2: microphone.press(holder, at: now, until: now + .milliseconds(random.below(2_000)))
            case 3, 4: microphone.release(holder, at: now)
            case 5: microphone.vanish(holder, at: now)
            case 6: microphone.toggle(holder, at: now)
            case 7: microphone.granted(at: now)
            default: random.below(2) == 0 ? microphone.refused(nil, at: now) : microphone.revoked(nil, at: now)
            }
            model.check(&microphone, at: now)
        }
    }
}

/// What must be true at any time, from the events and the holders alone.
private struct HolderModel {
    private let settings: PushToTalk.Settings
    private var isOpen = false
    private var opened = Instant.start
    private var lastHeld = Instant.start
    private var permissions = 0

    init(_ settings: PushToTalk.Settings) { self.settings = settings }

    mutating func check(_ microphone: inout PushToTalk, at now: Instant) {
        while let event = microphone.nextEvent() {
            switch event {
            case .opened:
                #expect(!isOpen)
                (isOpen, opened) = (true, now)
            case .closed(let reason, _):
                #expect(isOpen)
                isOpen = false
                if case .revoked = reason { permissions = 0 }
            case .refused(.permission, _): permissions = 0
            case .permissionRequested: permissions += 1
            case .permissionReleased: permissions = 0
            case .refused, .willTimeOut, .available, .emergencyRequested: break
            }
        }
        #expect(microphone.isOpen == isOpen, "the events say when it is open")
        #expect(microphone.holders.count == Set(microphone.holders).count)
        #expect(microphone.nextDeadline.map { $0 > now } ?? true, "nothing is overdue")
        if !microphone.holders.isEmpty { lastHeld = now }
        guard isOpen else { return }
        #expect(now - lastHeld < settings.releaseTail, "open without a holder at \(now)")
        if let timeOut = settings.timeOut { #expect(now - opened < timeOut, "open beyond the time-out at \(now)") }
        if microphone.permission == .needed { #expect(permissions == 1, "open without permission at \(now)") }
    }
}
