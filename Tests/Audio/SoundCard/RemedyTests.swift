import Glibc
import Testing

@testable import TenfourSoundCard

@Suite struct RemedyTests {
    @Test func aRunningCardThatAnswersIsLeftAlone() {
        #expect(Remedy(code: 0, state: .running) == .goOn)
        #expect(Remedy(code: 480, state: .running) == .goOn)
        #expect(Remedy(code: -EINTR, state: .running) == .goOn)
        #expect(Remedy(code: -EAGAIN, state: .running) == .waitALittle)
    }

    @Test func aPreparedCardIsStarted() {
        #expect(Remedy(code: 0, state: .prepared) == .start)
    }

    @Test func anUnderrunIsPreparedWhicheverWayItShows() {
        #expect(Remedy(code: -EPIPE, state: .running) == .prepare)
        #expect(Remedy(code: -EPIPE, state: .xrun) == .prepare)
        // Some plugins answer with success and an old number.
        #expect(Remedy(code: 0, state: .xrun) == .prepare)
        #expect(Remedy(code: -EBADFD, state: .xrun) == .prepare)
        #expect(Remedy(code: -EBADFD, state: .setup) == .prepare)
    }

    @Test func aCardThatSleptIsResumed() {
        #expect(Remedy(code: -ESTRPIPE, state: .running) == .resume)
        #expect(Remedy(code: -ESTRPIPE, state: .suspended) == .resume)
        #expect(Remedy(code: 0, state: .suspended) == .resume)
    }

    @Test func aCardThatWasPulledOutIsGone() {
        for state in [PCMState.open, .setup, .prepared, .running, .xrun, .suspended, .disconnected] {
            #expect(Remedy(code: -ENODEV, state: state) == .giveUp(.unplugged), "\(state)")
        }
        #expect(Remedy(code: 0, state: .disconnected) == .giveUp(.unplugged))
        #expect(Remedy(code: -EPIPE, state: .disconnected) == .giveUp(.unplugged))
        #expect(Remedy(code: -EBADF, state: .running) == .giveUp(.unplugged))
    }

    @Test func whatNothingMendsIsGivenUp() {
        #expect(Remedy(code: -EBADFD, state: .running) == .giveUp(.failed(code: -EBADFD)))
        #expect(Remedy(code: -EINVAL, state: .prepared) == .giveUp(.failed(code: -EINVAL)))
        #expect(Remedy(code: -EIO, state: .running) == .giveUp(.stalled))
    }

    @Test func everyErrnoInEveryStateHasARemedy() {
        let states: [PCMState] = [
            .open, .setup, .prepared, .running, .xrun, .draining, .paused, .suspended, .disconnected,
        ]
        for code in -200...Int32(0) {
            for state in states where code < 0 && code != -EINTR { #expect(Remedy(code: code, state: state) != .goOn) }
        }
    }

    @Test func pollTellsAStopFromALoss() {
        #expect(Remedy(poll: .ready, state: .running) == .goOn)
        #expect(Remedy(poll: .timedOut, state: .running) == .goOn)
        #expect(Remedy(poll: .troubled, state: .xrun) == .prepare)
        #expect(Remedy(poll: .troubled, state: .suspended) == .resume)
        #expect(Remedy(poll: .troubled, state: .disconnected) == .giveUp(.unplugged))
        #expect(Remedy(poll: .troubled, state: .running) == .giveUp(.stalled))
        #expect(Remedy(poll: .abandoned, state: .running) == .giveUp(.unplugged))
    }
}
