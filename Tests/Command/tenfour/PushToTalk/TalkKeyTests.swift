import TenfourAudioCore
import TenfourClocks
import TenfourCommandSupport
import TenfourPushToTalk
import TenfourSystem
import Testing

@testable import tenfour

/// The keys of the terminal that hold the microphone. Whether it is open follows at once.
struct TalkKeyTests {
    private let lease: MicrophoneLease
    private let opened = Locked<[Bool]>([])
    /// So late that the lease does not end a hold by itself, however slow the machine is.
    private let now = MonotonicClock.now + .seconds(3_600)

    init() throws {
        let opened = opened
        var settings = PushToTalk.Settings()
        settings.releaseTail = .zero
        lease = try MicrophoneLease(settings) { isOpen in opened.withLock { $0.append(isOpen) } }
    }

    private var changes: [Bool] { opened.withLock(\.self) }

    private func key(beganOpen: Bool = false, reportsReleases: Bool) -> TalkKey {
        TalkKey(lease, beganOpen: beganOpen, reportsReleases: reportsReleases)
    }

    @Test func aKeyWithReleasesHoldsTheMicrophone() {
        var key = key(reportsReleases: true)
        #expect(key.isHeldToTalk && key.help == "hold space to talk")
        key.handle(.press, at: now)
        key.handle(.repeat, at: now)
        #expect(changes == [true])
        key.handle(.release, at: now)
        #expect(changes == [true, false])
    }

    @Test func aKeyWithoutReleasesTogglesTheMicrophone() {
        var key = key(reportsReleases: false)
        #expect(!key.isHeldToTalk && key.help == "space opens and closes the microphone")
        key.handle(.press, at: now)
        #expect(changes == [true])
        key.handle(.press, at: now)
        #expect(changes == [true, false])
    }

    @Test func aSessionThatBeganOpenIsToggledAndStaysSo() {
        var key = key(beganOpen: true, reportsReleases: true)
        #expect(!key.isHeldToTalk)
        #expect(key.confirmReleases() == nil && !key.isHeldToTalk)
    }

    @Test(arguments: [true, false]) func aKeyThatIsPressedBeforeTheTerminalAnswersDoesNotStayOpen(isHeld: Bool) {
        var key = key(reportsReleases: false)
        key.handle(.press, at: now)
        _ = key.confirmReleases()
        #expect(changes == [true, false])
        if isHeld { key.handle(.repeat, at: now) }
        key.handle(.release, at: now)
        #expect(changes == (isHeld ? [true, false, true, false] : [true, false]))
    }

    @Test func aLateAnswerOfTheTerminalIsToldOnce() {
        var key = key(reportsReleases: false)
        #expect(key.confirmReleases()?.hasSuffix("hold space to talk") == true)
        #expect(key.isHeldToTalk && key.confirmReleases() == nil)
    }

    @Test func aHeldKeyLetsGoWhenTheFocusIsLost() {
        var key = key(reportsReleases: true)
        key.handle(.press, at: now)
        #expect(!key.hasLeftTerminal)
        key.leaveTerminal(isClosed: false)
        #expect(key.hasLeftTerminal && changes == [true, false])
        key.handle(.repeat, at: now)
        #expect(!key.hasLeftTerminal && changes == [true, false])
    }

    @Test func aToggleEndsWithTheTerminalButNotWithTheFocus() {
        var key = key(reportsReleases: false)
        key.handle(.press, at: now)
        key.leaveTerminal(isClosed: false)
        #expect(changes == [true])
        key.leaveTerminal(isClosed: true)
        #expect(changes == [true, false])
    }

    @Test func aKeyWithoutRepeatsLetsGo() {
        var key = key(reportsReleases: true)
        key.handle(.press, at: now)
        key.timeElapsed(at: now + HeldKey.patience)
        #expect(changes == [true, false])
    }

    @Test func anEmergencyNeedsTwoPresses() {
        var key = EmergencyKey(lease)
        #expect(key.press(at: now).first?.hasPrefix("for an emergency, press e twice within 1 s") == true)
        #expect(key.press(at: now + .milliseconds(1_001)).first?.hasPrefix("for an emergency, press e twice") == true)
        #expect(changes.isEmpty)
        #expect(key.press(at: now + .milliseconds(2_001)) == ["emergency: press e twice again to end it"])
        #expect(changes == [true])
        _ = key.press(at: now + .milliseconds(2_002))
        #expect(key.press(at: now + .milliseconds(2_003)).isEmpty)
        #expect(changes == [true, false])
    }
}

struct MicrophoneNoticesTests {
    private let notices = MicrophoneNotices(timeOut: .seconds(180))

    private func line(_ event: PushToTalk.Event, hasLeftTerminal: Bool = false) -> String? {
        notices.record(event)
        let lines = notices.take(hasLeftTerminal: hasLeftTerminal)
        #expect(lines.count < 2)
        return lines.first
    }

    @Test func theTimesAreInMinutesOrSeconds() {
        #expect(line(.willTimeOut(in: .seconds(10)))?.contains("closes in 10 s: let go") == true)
        #expect(line(.closed(.timedOut, .keyboard))?.contains("was open for 3 min, and is closed") == true)
        #expect(line(.willTimeOut(in: .milliseconds(90_500)))?.contains("closes in 90.5 s:") == true)
        notices.record(.closed(.timedOut, .voice))
        let unlimited = MicrophoneNotices(timeOut: nil)
        unlimited.record(.closed(.timedOut, .voice))
        #expect(unlimited.take(hasLeftTerminal: false).first?.contains("was open for too long, and") == true)
    }

    @Test func missingRepeatsAreToldUnlessTheUserHasLeft() {
        #expect(line(.closed(.vanished, .keyboard))?.hasPrefix("space no longer repeats") == true)
        #expect(line(.closed(.vanished, .keyboard), hasLeftTerminal: true) == nil)
        #expect(line(.closed(.vanished, .device("hid")), hasLeftTerminal: true)?.hasPrefix("hid is gone") == true)
    }

    @Test func theReasonIsNamed() {
        #expect(line(.closed(.revoked("bob talks"), .keyboard)) == "the microphone is closed: bob talks")
        #expect(line(.refused(.permission(nil), .keyboard)) == "you cannot talk now")
    }

    @Test func eachNoticeIsReturnedOnceInOrder() {
        for event in [PushToTalk.Event.available, .opened(.voice), .closed(.revoked(nil), .voice)] {
            notices.record(event)
        }
        #expect(
            notices.take(hasLeftTerminal: false)
                == ["the microphone can be opened again", "the microphone is closed"])
        #expect(notices.take(hasLeftTerminal: false).isEmpty)
    }
}
