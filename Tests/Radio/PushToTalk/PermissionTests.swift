import TenfourAudioCore
import TenfourPushToTalk
import Testing

/// The lease on the microphone where a permission is needed first, as with a floor.
struct PermissionTests {
    private var microphone = PushToTalk(permission: .needed)

    @Test mutating func itOpensWhenThePermissionIsGiven() {
        microphone.press(.keyboard, at: ms(0))
        #expect(!microphone.isOpen && microphone.state == .waiting && microphone.takeEvents() == [.permissionRequested])
        microphone.granted(at: ms(40))
        #expect(microphone.isOpen && microphone.takeEvents() == [.opened(.keyboard)])
        #expect(microphone.remaining(at: ms(40)) == .seconds(180), "the waiting is not counted")
        microphone.release(.keyboard, at: ms(1_000))
        #expect(microphone.takeEvents() == [], "the permission is kept for the tail")
        microphone.timeElapsed(at: ms(1_150))
        #expect(microphone.takeEvents() == [.permissionReleased, .closed(.released, .keyboard)])
    }

    @Test mutating func aReleaseBeforeTheAnswerWithdrawsTheRequest() {
        microphone.press(.keyboard, at: ms(0))
        microphone.release(.keyboard, at: ms(20))
        #expect(microphone.takeEvents() == [.permissionRequested, .permissionReleased])
        microphone.granted(at: ms(40))
        #expect(!microphone.isOpen && microphone.takeEvents() == [.permissionReleased], "the answers crossed")
    }

    @Test mutating func inAnotherSessionThePermissionIsRequestedAnew() {
        microphone.press(.keyboard, at: ms(0))
        microphone.granted(at: ms(40))
        _ = microphone.takeEvents()
        microphone.changeSession(.needed, at: ms(1_000))
        #expect(!microphone.isOpen && microphone.state == .waiting)
        #expect(
            microphone.takeEvents() == [.permissionReleased, .closed(.released, .keyboard), .permissionRequested])
        microphone.granted(at: ms(1_040))
        #expect(microphone.isOpen && microphone.takeEvents() == [.opened(.keyboard)])
        microphone.changeSession(.notNeeded, at: ms(2_000))
        #expect(microphone.isOpen && microphone.takeEvents() == [.permissionReleased])
        microphone.changeSession(.needed, at: ms(3_000))
        #expect(!microphone.isOpen && microphone.state == .waiting)
    }

    @Test mutating func aRefusalInOneSessionIsNoneInAnother() {
        microphone.press(.keyboard, at: ms(0))
        microphone.refused("Bob talks", at: ms(40))
        _ = microphone.takeEvents()
        microphone.changeSession(.needed, at: ms(1_000))
        #expect(microphone.state == .waiting && microphone.takeEvents() == [.permissionRequested])
        microphone.changeSession(.notNeeded, at: ms(1_100))
        #expect(microphone.isOpen && microphone.takeEvents() == [.permissionReleased, .opened(.keyboard)])
    }

    @Test mutating func aTailEndsInItsOwnSession() {
        microphone.press(.keyboard, at: ms(0))
        microphone.granted(at: ms(40))
        microphone.release(.keyboard, at: ms(1_000))
        _ = microphone.takeEvents()
        microphone.changeSession(.needed, at: ms(1_050))
        #expect(!microphone.isOpen && microphone.takeEvents() == [.permissionReleased, .closed(.released, .keyboard)])
        microphone.changeSession(.needed, at: ms(1_100))
        #expect(microphone.takeEvents() == [], "nobody holds it")
    }

    @Test mutating func aRefusalLastsUntilThePressIsNew() {
        microphone.press(.keyboard, at: ms(0))
        microphone.refused("Bob talks", at: ms(40))
        #expect(
            microphone.takeEvents() == [.permissionRequested, .refused(.permission("Bob talks"), .keyboard)])
        microphone.press(.keyboard, at: ms(50))
        #expect(microphone.state == .refused && microphone.takeEvents() == [], "the same press does not ask again")
        microphone.release(.keyboard, at: ms(60))
        #expect(microphone.state == .closed && microphone.takeEvents() == [])
        microphone.press(.keyboard, at: ms(70))
        #expect(microphone.takeEvents() == [.permissionRequested])
    }

    @Test mutating func anotherHolderAsksAgain() {
        microphone.press(.device("stuck"), at: ms(0))
        microphone.refused(nil, at: ms(40))
        microphone.press(.keyboard, at: ms(1_000))
        microphone.granted(at: ms(1_040))
        #expect(microphone.isOpen)
    }

    @Test mutating func aRevocationClosesAtOnceAndIsNotAnsweredByARelease() {
        microphone.press(.keyboard, at: ms(0))
        microphone.granted(at: ms(40))
        _ = microphone.takeEvents()
        microphone.revoked("an emergency", at: ms(500))
        #expect(!microphone.isOpen && microphone.state == .refused)
        #expect(microphone.takeEvents() == [.closed(.revoked("an emergency"), .keyboard)])
        microphone.release(.keyboard, at: ms(600))
        #expect(microphone.state == .closed && microphone.takeEvents() == [])
    }

    @Test mutating func aRevocationWithinTheTailCloses() {
        microphone.press(.keyboard, at: ms(0))
        microphone.granted(at: ms(40))
        microphone.release(.keyboard, at: ms(500))
        microphone.revoked(nil, at: ms(550))
        #expect(!microphone.isOpen && microphone.nextDeadline == nil && microphone.state == .closed)
    }

    @Test mutating func aTimeOutReleasesThePermission() {
        microphone.press(.keyboard, at: ms(0))
        microphone.granted(at: ms(40))
        _ = microphone.takeEvents()
        microphone.timeElapsed(at: ms(180_040))
        #expect(
            microphone.takeEvents() == [
                .willTimeOut(in: .seconds(10)), .permissionReleased, .closed(.timedOut, .keyboard),
            ])
    }

    @Test mutating func aRefusalEndsALatch() {
        microphone.toggle(.keyboard, at: ms(0))
        microphone.refused(nil, at: ms(40))
        #expect(microphone.holders == [] && microphone.state == .closed)
    }

    @Test mutating func answersThatNobodyAskedForHaveNoEffect() {
        microphone.refused("no", at: ms(0))
        microphone.revoked("no", at: ms(0))
        #expect(microphone.takeEvents() == [])
        microphone.setPermission(.notNeeded, at: .start)
        microphone.press(.keyboard, at: ms(10))
        microphone.refused("no", at: ms(20))
        microphone.revoked("no", at: ms(20))
        #expect(microphone.isOpen && microphone.takeEvents() == [.opened(.keyboard)])
    }

    @Test mutating func anOpenMicrophoneClosesUntilThePermissionThatIsNeededNowIsGiven() {
        microphone = PushToTalk()
        microphone.press(.keyboard, at: ms(0))
        microphone.setPermission(.needed, at: ms(10))
        #expect(!microphone.isOpen && microphone.state == .waiting)
        microphone.granted(at: ms(20))
        #expect(microphone.isOpen)
        microphone.release(.keyboard, at: ms(30))
        microphone.timeElapsed(at: ms(500))
        #expect(
            microphone.takeEvents() == [
                .opened(.keyboard), .closed(.revoked(nil), .keyboard), .permissionRequested, .opened(.keyboard),
                .permissionReleased, .closed(.released, .keyboard),
            ])
    }

    @Test mutating func whoWaitsForAPermissionThatIsNoLongerNeededTalks() {
        microphone.press(.keyboard, at: ms(0))
        microphone.setPermission(.notNeeded, at: ms(10))
        #expect(microphone.isOpen)
    }

    @Test mutating func anEmergencyIsAskedForBeforeThePermission() {
        microphone.pressInEmergency(.session, at: ms(0))
        #expect(microphone.takeEvents() == [.emergencyRequested, .permissionRequested])
        microphone.granted(at: ms(10))
        #expect(microphone.isOpen)
    }

    /// In a terminal that reports no releases, space holds by a toggle, too.
    @Test(arguments: [false, true]) mutating func anEmergencyIsRaisedWhileAToggleHolds(isOpen: Bool) {
        microphone.toggle(.keyboard, at: ms(0))
        if isOpen { microphone.granted(at: ms(10)) }
        _ = microphone.takeEvents()
        let isRaised = microphone.toggleEmergency(.session, at: ms(20))
        #expect(isRaised && microphone.isOpen == isOpen)
        #expect(microphone.takeEvents() == [.emergencyRequested])
        let isRaisedAgain = microphone.toggleEmergency(.session, at: ms(30))
        #expect(!isRaisedAgain)
        #expect(microphone.holders == [])
    }

    @Test mutating func anEmergencyAsksAgainAfterARefusal() {
        microphone.press(.keyboard, at: ms(0))
        microphone.refused("no", at: ms(10))
        _ = microphone.takeEvents()
        microphone.pressInEmergency(.keyboard, at: ms(20))
        #expect(microphone.takeEvents() == [.emergencyRequested, .permissionRequested])
        #expect(microphone.state == .waiting)
    }

    @Test mutating func anEmergencyWithoutAPermissionIsAnOrdinaryPress() {
        microphone = PushToTalk()
        microphone.pressInEmergency(.session, at: ms(0))
        #expect(microphone.takeEvents() == [.opened(.session)])
    }
}
