import Glibc
import Testing

@testable import TenfourSoundCard

@Suite struct RecoveryActionTests {
    @Test func aRunningCardThatAnswersIsLeftAlone() {
        #expect(RecoveryAction(code: 0, state: .running) == .proceed)
        #expect(RecoveryAction(code: 480, state: .running) == .proceed)
        #expect(RecoveryAction(code: -EINTR, state: .running) == .proceed)
        #expect(RecoveryAction(code: -EAGAIN, state: .running) == .waitBriefly)
    }

    @Test func aPreparedCardIsStarted() {
        #expect(RecoveryAction(code: 0, state: .prepared) == .start)
    }

    @Test func anUnderrunIsPreparedWhicheverWayItShows() {
        #expect(RecoveryAction(code: -EPIPE, state: .running) == .prepare)
        #expect(RecoveryAction(code: -EPIPE, state: .xrun) == .prepare)
        // Some plugins return success together with an outdated count.
        #expect(RecoveryAction(code: 0, state: .xrun) == .prepare)
        #expect(RecoveryAction(code: -EBADFD, state: .xrun) == .prepare)
        #expect(RecoveryAction(code: -EBADFD, state: .setup) == .prepare)
    }

    @Test func aCardThatSleptIsResumed() {
        #expect(RecoveryAction(code: -ESTRPIPE, state: .running) == .resume)
        #expect(RecoveryAction(code: -ESTRPIPE, state: .suspended) == .resume)
        #expect(RecoveryAction(code: 0, state: .suspended) == .resume)
    }

    @Test func aCardThatWasPulledOutIsGone() {
        for state in [PCMState.open, .setup, .prepared, .running, .xrun, .suspended, .disconnected] {
            #expect(RecoveryAction(code: -ENODEV, state: state) == .giveUp(.unplugged), "\(state)")
        }
        #expect(RecoveryAction(code: 0, state: .disconnected) == .giveUp(.unplugged))
        #expect(RecoveryAction(code: -EPIPE, state: .disconnected) == .giveUp(.unplugged))
        #expect(RecoveryAction(code: -EBADF, state: .running) == .giveUp(.unplugged))
    }

    @Test func aStreamThatNoActionRecoversIsGivenUp() {
        #expect(RecoveryAction(code: -EBADFD, state: .running) == .giveUp(.failed(code: -EBADFD)))
        #expect(RecoveryAction(code: -EINVAL, state: .prepared) == .giveUp(.failed(code: -EINVAL)))
        #expect(RecoveryAction(code: -EIO, state: .running) == .giveUp(.stalled))
    }

    @Test func everyErrnoInEveryStateHasARemedy() {
        let states: [PCMState] = [
            .open, .setup, .prepared, .running, .xrun, .draining, .paused, .suspended, .disconnected,
        ]
        for code in -200...Int32(0) {
            for state in states where code < 0 && code != -EINTR {
                #expect(RecoveryAction(code: code, state: state) != .proceed)
            }
        }
    }

    @Test func pollTellsAStopFromALoss() {
        #expect(RecoveryAction(poll: .ready, state: .running) == .proceed)
        #expect(RecoveryAction(poll: .timedOut, state: .running) == .proceed)
        #expect(RecoveryAction(poll: .troubled, state: .xrun) == .prepare)
        #expect(RecoveryAction(poll: .troubled, state: .suspended) == .resume)
        #expect(RecoveryAction(poll: .troubled, state: .disconnected) == .giveUp(.unplugged))
        #expect(RecoveryAction(poll: .troubled, state: .running) == .giveUp(.stalled))
        #expect(RecoveryAction(poll: .abandoned, state: .running) == .giveUp(.unplugged))
    }
}
