import TenfourAudioCore
import TenfourPushToTalk
import Testing

/// A moment, in milliseconds since the start.
func ms(_ milliseconds: Int) -> Instant { .start + .milliseconds(milliseconds) }

extension PushToTalk {
    mutating func takeEvents() -> [Event] {
        var events: [Event] = []
        while let event = nextEvent() { events.append(event) }
        return events
    }
}

struct PushToTalkTests {
    private var microphone = PushToTalk()

    @Test mutating func theMicrophoneIsOpenFromThePressToTheEndOfTheTail() {
        microphone.press(.keyboard, at: ms(0))
        #expect(microphone.isOpen && microphone.takeEvents() == [.opened(.keyboard)])
        microphone.release(.keyboard, at: ms(1_000))
        #expect(microphone.isOpen && microphone.nextDeadline == ms(1_150) && microphone.takeEvents() == [])
        microphone.timeElapsed(at: ms(1_149))
        #expect(microphone.isOpen)
        microphone.timeElapsed(at: ms(1_150))
        #expect(!microphone.isOpen && microphone.nextDeadline == nil)
        #expect(microphone.takeEvents() == [.closed(.released, .keyboard)])
    }

    @Test mutating func aPressWithinTheTailContinuesTheTransmission() {
        microphone.press(.keyboard, at: ms(0))
        microphone.release(.keyboard, at: ms(1_000))
        microphone.press(.signal, at: ms(1_149))
        microphone.timeElapsed(at: ms(5_000))
        #expect(microphone.isOpen && microphone.takeEvents() == [.opened(.keyboard)])
        #expect(microphone.remaining(at: ms(5_000)) == .seconds(175), "the time-out counts from the first press")
        microphone.release(.signal, at: ms(6_000))
        microphone.timeElapsed(at: ms(6_150))
        #expect(microphone.takeEvents() == [.closed(.released, .signal)])
    }

    @Test mutating func aPressAfterTheTailIsANewTransmissionEvenIfTheTimerIsLate() {
        microphone.press(.keyboard, at: ms(0))
        microphone.release(.keyboard, at: ms(1_000))
        microphone.press(.keyboard, at: ms(1_200))
        #expect(
            microphone.takeEvents() == [.opened(.keyboard), .closed(.released, .keyboard), .opened(.keyboard)])
        #expect(microphone.remaining(at: ms(1_200)) == .seconds(180))
    }

    @Test mutating func itIsOpenWhileAnyHolds() {
        microphone.press(.keyboard, at: ms(0))
        microphone.press(.client(1), at: ms(10))
        microphone.press(.client(1), at: ms(20))
        microphone.release(.keyboard, at: ms(30))
        microphone.timeElapsed(at: ms(5_000))
        #expect(microphone.isOpen && microphone.holders == [.client(1)])
        microphone.vanish(.client(1), at: ms(5_000))
        #expect(!microphone.isOpen, "one that vanishes has no tail")
        #expect(microphone.takeEvents() == [.opened(.keyboard), .closed(.vanished, .client(1))])
    }

    @Test mutating func withoutATailItClosesAtOnce() {
        var settings = PushToTalk.Settings()
        settings.releaseTail = .zero
        var microphone = PushToTalk(settings)
        microphone.press(.keyboard, at: ms(0))
        microphone.release(.keyboard, at: ms(10))
        #expect(!microphone.isOpen && microphone.nextDeadline == nil)
    }

    @Test mutating func aReleaseOfOneThatDoesNotHoldHasNoEffect() {
        microphone.press(.keyboard, at: ms(0))
        microphone.release(.signal, at: ms(10))
        microphone.vanish(.client(3), at: ms(10))
        #expect(microphone.isOpen && microphone.holders == [.keyboard])
    }

    @Test mutating func itTimesOutAndStaysClosedUntilReleasedAndTwoSecondsMore() {
        microphone.press(.keyboard, at: ms(0))
        #expect(microphone.takeEvents() == [.opened(.keyboard)])
        #expect(microphone.nextDeadline == ms(170_000))
        microphone.timeElapsed(at: ms(170_000))
        #expect(microphone.isOpen && microphone.takeEvents() == [.willTimeOut(in: .seconds(10))])
        microphone.timeElapsed(at: ms(180_000))
        #expect(!microphone.isOpen && microphone.state == .timedOut)
        #expect(microphone.takeEvents() == [.closed(.timedOut, .keyboard)])
        #expect(microphone.nextDeadline == nil, "it waits for the release, however long that takes")
        microphone.press(.signal, at: ms(190_000))
        microphone.release(.keyboard, at: ms(200_000))
        #expect(!microphone.isOpen && microphone.takeEvents() == [.refused(.timedOut, .signal)])
        microphone.release(.signal, at: ms(201_000))
        #expect(microphone.nextDeadline == ms(203_000))
        microphone.timeElapsed(at: ms(203_000))
        #expect(microphone.state == .closed && microphone.takeEvents() == [.available])
        microphone.press(.keyboard, at: ms(203_000))
        #expect(microphone.isOpen)
    }

    @Test mutating func aWarningThatFallsIntoTheTailIsGivenWithTheNextPress() {
        microphone.press(.keyboard, at: ms(0))
        microphone.release(.keyboard, at: ms(169_900))
        microphone.press(.keyboard, at: ms(170_020))
        #expect(microphone.takeEvents() == [.opened(.keyboard), .willTimeOut(in: .seconds(10))])
    }

    @Test mutating func aPressWithinTheHoldOffMustBeReleasedToo() {
        microphone.press(.keyboard, at: ms(0))
        microphone.timeElapsed(at: ms(180_000))
        microphone.release(.keyboard, at: ms(181_000))
        microphone.press(.keyboard, at: ms(182_999))
        microphone.timeElapsed(at: ms(190_000))
        #expect(!microphone.isOpen, "a key that is pressed too early does not open the microphone by itself later")
        microphone.release(.keyboard, at: ms(190_000))
        microphone.timeElapsed(at: ms(192_000))
        microphone.press(.keyboard, at: ms(192_000))
        #expect(microphone.isOpen)
    }

    @Test mutating func theTimeOutCanBeSetOrLeftOut() {
        var settings = PushToTalk.Settings()
        settings.timeOut = .seconds(5)
        var short = PushToTalk(settings)
        short.press(.keyboard, at: ms(0))
        #expect(short.nextDeadline == ms(5_000), "too short for a warning")
        settings.timeOut = nil
        var endless = PushToTalk(settings)
        endless.press(.keyboard, at: ms(0))
        #expect(endless.nextDeadline == nil && endless.remaining(at: ms(1)) == nil)
        endless.timeElapsed(at: ms(1_000_000_000))
        #expect(endless.isOpen)
    }

    @Test mutating func aToggleHoldsUntilTheNextOne() {
        microphone.toggle(.session, at: ms(0))
        #expect(microphone.isOpen && microphone.hasLatch)
        microphone.toggle(.keyboard, at: ms(1_000))
        #expect(microphone.holders == [], "a toggle ends what another toggle began")
        microphone.timeElapsed(at: ms(1_150))
        #expect(!microphone.isOpen)
        microphone.toggle(.keyboard, at: ms(2_000))
        microphone.press(.device("pedal"), at: ms(2_500))
        microphone.toggle(.keyboard, at: ms(3_000))
        #expect(microphone.isOpen && microphone.holders == [.device("pedal")], "a key that is held is not toggled")
        microphone.toggle(.keyboard, at: ms(4_000))
        microphone.vanish(.keyboard, at: ms(5_000))
        #expect(microphone.holders == [.device("pedal")])
    }

    @Test mutating func aTimeOutEndsALatchBecauseNobodyWouldReleaseIt() {
        microphone.toggle(.keyboard, at: ms(0))
        microphone.timeElapsed(at: ms(180_000))
        #expect(microphone.holders == [] && microphone.nextDeadline == ms(182_000))
        _ = microphone.takeEvents()
        microphone.toggle(.keyboard, at: ms(181_000))
        #expect(microphone.holders == [] && microphone.takeEvents() == [.refused(.timedOut, .keyboard)])
        microphone.toggle(.keyboard, at: ms(182_000))
        #expect(microphone.isOpen)
    }

    /// A key whose repeats no longer come: the thread that reads the terminal may hang, too.
    @Test mutating func aHoldThatIsNotRenewedVanishes() {
        microphone.press(.keyboard, at: ms(0), until: ms(1_500))
        #expect(microphone.nextDeadline == ms(1_500))
        microphone.press(.keyboard, at: ms(660), until: ms(2_160))
        microphone.timeElapsed(at: ms(2_159))
        #expect(microphone.isOpen && microphone.takeEvents() == [.opened(.keyboard)])
        microphone.timeElapsed(at: ms(2_160))
        #expect(!microphone.isOpen && microphone.takeEvents() == [.closed(.vanished, .keyboard)])
        microphone.press(.keyboard, at: ms(3_000), until: ms(4_500))
        microphone.press(.signal, at: ms(3_100))
        microphone.timeElapsed(at: ms(9_000))
        #expect(microphone.isOpen && microphone.holders == [.signal])
    }

    @Test mutating func tooManyHoldersAreRefused() {
        for number in 0...PushToTalk.maximumHolderCount { microphone.press(.client(number), at: ms(0)) }
        #expect(microphone.holders.count == PushToTalk.maximumHolderCount)
        #expect(microphone.takeEvents().last == .refused(.tooManyHolders, .client(64)))
    }
}
