import TenfourMediaSource
import Testing

@testable import TenfourPlayer

@Suite struct StreamStateMachineTests {
    private static let error = StreamError.read(.undecodable("no"))

    @Test func itOpensFillsPlaysAndEnds() {
        var machine = StreamStateMachine()
        #expect(machine.state == .idle)
        #expect(machine.handle(.open(itemCount: 1, at: nil)) == [.begin(generation: 1), .open(item: 0, at: nil)])
        #expect(machine.state == .paused)
        #expect(machine.handle(.play) == [])
        #expect(machine.state.isBuffering && !machine.isOpen)
        #expect(machine.handle(.opened) == [])
        #expect(machine.handle(.buffered) == [])
        #expect(machine.state == .playing && machine.isOpen)
        #expect(machine.handle(.readToEnd) == [.finish])
        #expect(machine.state == .playing)
        #expect(machine.handle(.heardAll) == [])
        #expect(machine.state == .ended(.finished))
    }

    @Test func aPauseHoldsWhateverItComesInto() {
        var machine = StreamStateMachine()
        _ = machine.handle(.open(itemCount: 1, at: nil))
        for input in [StreamStateMachine.Input.play, .pause, .opened, .buffered] { _ = machine.handle(input) }
        #expect(machine.state == .paused && !machine.isOpen)
        _ = machine.handle(.seek(.seconds(3)))
        _ = machine.handle(.buffered)
        #expect(machine.state == .paused && !machine.isOpen)
        _ = machine.handle(.play)
        #expect(machine.state == .playing)
    }

    @Test func eachSeekBeginsAGenerationAndTheLastOneCounts() {
        var machine = playing()
        #expect(machine.handle(.seek(.seconds(3))) == [.begin(generation: 2), .seek(.seconds(3))])
        #expect(machine.handle(.seek(.seconds(-3))) == [.begin(generation: 3), .seek(.zero)])
        #expect(machine.state.isBuffering && !machine.isOpen)
        _ = machine.handle(.buffered)
        #expect(machine.state == .playing)
    }

    @Test func aSeekBeforeItIsOpenOpensItThere() {
        var machine = StreamStateMachine()
        _ = machine.handle(.open(itemCount: 2, at: nil))
        #expect(machine.handle(.seek(.seconds(9))) == [.begin(generation: 2), .open(item: 0, at: .seconds(9))])
    }

    @Test func afterItsEndASeekPlaysOn() {
        var machine = playing()
        _ = machine.handle(.readToEnd)
        _ = machine.handle(.heardAll)
        #expect(machine.handle(.seek(.seconds(1))) == [.begin(generation: 2), .seek(.seconds(1))])
        #expect(machine.state == .paused)
    }

    @Test func aSeekAfterTheEndGoesToWhatWasHeard() {
        var machine = playing(itemCount: 2)
        _ = machine.handle(.readToEnd)
        _ = machine.handle(.failed(Self.error))
        _ = machine.handle(.heardAll)
        #expect(machine.handle(.seek(.seconds(1))) == [.begin(generation: 2), .open(item: 0, at: .seconds(1))])
    }

    @Test func aFullQueueEndsPlayback() {
        var machine = playing(itemCount: 2)
        #expect(machine.handle(.queueFull(Self.error)) == [.begin(generation: 2), .close])
        #expect(machine.state == .failed(Self.error))
    }

    @Test func anEmptyQueueIsAStop() {
        var machine = playing(itemCount: 2)
        #expect(machine.handle(.open(itemCount: 0, at: nil)) == [.begin(generation: 2), .close])
        #expect(machine.state == .ended(.stopped))
        #expect(machine.handle(.play) == [])
    }

    @Test func waitingAndTheEndHaveTheirReasons() {
        var machine = StreamStateMachine()
        _ = machine.handle(.open(itemCount: 1, at: nil))
        _ = machine.handle(.play)
        #expect(machine.state == .buffering(.opening))
        _ = machine.handle(.opened)
        #expect(machine.state == .buffering(.opening))
        _ = machine.handle(.buffered)
        _ = machine.handle(.seek(.seconds(1)))
        #expect(machine.state == .buffering(.seeking))
        _ = machine.handle(.buffered)
        _ = machine.handle(.starved)
        #expect(machine.state == .buffering(.underrun))
        _ = machine.handle(.buffered)
        _ = machine.handle(.playedEnough)
        #expect(machine.state == .ended(.playedEnough))
        _ = machine.handle(.close)
        #expect(machine.state == .ended(.playedEnough), "the first reason stays")
    }

    @Test func aClosedPlayerTakesNoRequest() {
        for began in [false, true] {
            var machine = began ? playing() : StreamStateMachine()
            _ = machine.handle(.close)
            #expect(machine.state == .ended(.closed))
            #expect(machine.handle(.open(itemCount: 1, at: nil)) == [] && machine.handle(.play) == [])
            #expect(machine.state == .ended(.closed))
        }
    }

    @Test func anUnderrunRefills() {
        var machine = playing()
        _ = machine.handle(.starved)
        #expect(machine.state.isBuffering && machine.fillingReason == .underrun)
        _ = machine.handle(.buffered)
        #expect(machine.state == .playing)
        _ = machine.handle(.readToEnd)
        _ = machine.handle(.starved)
        #expect(machine.state == .playing, "an empty ring at the end of the queue is no starvation")
    }

    @Test func theQueueGoesOnWithoutAGap() {
        var machine = playing(itemCount: 2)
        #expect(machine.handle(.readToEnd) == [.append(item: 1)])
        #expect(machine.isOpen && machine.heardItem == 0)
        _ = machine.handle(.opened)
        #expect(machine.isOpen)
        // Seeks in the item that is still heard, although the next one is already read.
        #expect(machine.handle(.seek(.zero)) == [.begin(generation: 2), .open(item: 0, at: .zero)])
    }

    @Test func anItemEnqueuedAfterTheLastIsAppended() {
        var machine = playing()
        #expect(machine.handle(.readToEnd) == [.finish])
        #expect(machine.handle(.enqueued(itemCount: 1)) == [.append(item: 1)])
        #expect(machine.state == .playing)
        _ = machine.handle(.readToEnd)
        _ = machine.handle(.hears(item: 1))
        _ = machine.handle(.heardAll)
        #expect(machine.state == .ended(.finished))
        _ = machine.handle(.enqueued(itemCount: 1))
        #expect(machine.handle(.play) == [.begin(generation: 2), .open(item: 2, at: nil)])
    }

    @Test func unplayableItemsAreSkipped() {
        var machine = StreamStateMachine()
        _ = machine.handle(.open(itemCount: 3, at: nil))
        _ = machine.handle(.play)
        #expect(
            machine.handle(.failed(Self.error))
                == [.skipped(item: 0, Self.error), .begin(generation: 2), .open(item: 1, at: nil)])
        for input in [StreamStateMachine.Input.opened, .buffered, .hears(item: 1)] { _ = machine.handle(input) }
        #expect(machine.handle(.readToEnd) == [.append(item: 2)])
        #expect(machine.handle(.failed(Self.error)) == [.skipped(item: 2, Self.error), .finish])
        _ = machine.handle(.heardAll)
        #expect(machine.state == .ended(.finished), "an item was heard before the failure")
    }

    @Test func aQueueOfNothingPlayableFailsAndDoesNotGoRoundForEver() {
        var machine = StreamStateMachine()
        _ = machine.handle(.repeats(.all))
        _ = machine.handle(.open(itemCount: 2, at: nil))
        _ = machine.handle(.play)
        _ = machine.handle(.failed(Self.error))
        _ = machine.handle(.failed(Self.error))
        #expect(machine.state == .failed(Self.error))
        #expect(machine.handle(.play) == [.begin(generation: 4), .open(item: 1, at: nil)], "play tries again")
    }

    @Test(arguments: [RepeatMode.one, .all])
    func aRepeatedQueueWithoutAudioIsReadOnce(repeats: RepeatMode) {
        var machine = playing(itemCount: 2)
        _ = machine.handle(.repeats(repeats))
        #expect(machine.handle(.readNothing) == [.append(item: 1)])
        #expect(machine.handle(.readNothing) == [.finish])
        _ = machine.handle(.heardAll)
        #expect(machine.state == .ended(.finished))
    }

    @Test func anItemWithoutAudioIsPassedOverInARepeatedQueue() {
        var machine = playing(itemCount: 2)
        _ = machine.handle(.repeats(.all))
        for _ in 0..<3 {
            #expect(machine.handle(.readToEnd) == [.append(item: 1)])
            #expect(machine.handle(.readNothing) == [.append(item: 0)])
        }
    }

    @Test func aBrokenStreamPlaysToTheBreakAndThenFails() {
        var machine = playing()
        #expect(machine.handle(.failed(Self.error)) == [.finish])
        #expect(machine.state == .playing)
        _ = machine.handle(.heardAll)
        #expect(machine.state == .failed(Self.error))
    }

    @Test func aLoopBeginsAgain() {
        var machine = playing()
        _ = machine.handle(.repeats(.all))
        #expect(machine.handle(.readToEnd) == [.append(item: 0)])
    }

    @Test func aStopIsAnEndFromWhichItBeginsAgain() {
        var machine = playing(itemCount: 2)
        _ = machine.handle(.hears(item: 1))
        #expect(machine.handle(.stop) == [.begin(generation: 2), .close])
        #expect(machine.state == .ended(.stopped))
        #expect(machine.handle(.play) == [.begin(generation: 3), .open(item: 1, at: nil)])
    }

    @Test func aSeekWhileItIsStoppedIsWherePlayBegins() {
        var machine = playing(itemCount: 2)
        _ = machine.handle(.hears(item: 1))
        _ = machine.handle(.stop)
        #expect(machine.handle(.seek(.seconds(3))) == [.aim(.seconds(3))])
        #expect(machine.handle(.seek(.seconds(-3))) == [.aim(.zero)])
        #expect(machine.handle(.seek(.seconds(7))) == [.aim(.seconds(7))])
        #expect(machine.state == .ended(.stopped))
        #expect(machine.handle(.play) == [.begin(generation: 3), .open(item: 1, at: .seconds(7))])
        // The position is used once: the next `play` starts at the beginning.
        _ = machine.handle(.stop)
        #expect(machine.handle(.play) == [.begin(generation: 5), .open(item: 1, at: nil)])
    }

    @Test func aSeekAfterTheEndIsAPauseThere() {
        var machine = playing()
        _ = machine.handle(.readToEnd)
        _ = machine.handle(.heardAll)
        #expect(machine.state == .ended(.finished))
        #expect(machine.handle(.seek(.seconds(1))) == [.begin(generation: 2), .seek(.seconds(1))])
        #expect(machine.state == .paused && !machine.isOpen)
        _ = machine.handle(.buffered)
        #expect(machine.state == .paused && !machine.isOpen)
        #expect(machine.handle(.play) == [] && machine.state == .playing)
    }

    @Test func nextAndPreviousStayWithinTheQueue() {
        var machine = playing(itemCount: 2)
        #expect(machine.handle(.previous) == [.begin(generation: 2), .open(item: 0, at: nil)])
        #expect(machine.handle(.next) == [.begin(generation: 3), .open(item: 1, at: nil)])
        #expect(machine.handle(.next) == [])
        #expect(machine.handle(.previous) == [.begin(generation: 4), .open(item: 0, at: nil)])
    }

    @Test func unplayableItemsAreSkippedBackwards() {
        var machine = playing(itemCount: 4)
        _ = machine.handle(.hears(item: 3))
        #expect(machine.handle(.previous) == [.begin(generation: 2), .open(item: 2, at: nil)])
        #expect(
            machine.handle(.failed(Self.error))
                == [.skipped(item: 2, Self.error), .begin(generation: 3), .open(item: 1, at: nil)])
        _ = machine.handle(.failed(Self.error))
        // Nothing comes before the first item, so the next items are tried, until one plays or all have failed.
        #expect(
            (0..<4).map { _ in machine.handle(.failed(Self.error)).last }
                == [.open(item: 1, at: nil), .open(item: 2, at: nil), .open(item: 3, at: nil), .close])
    }

    @Test func aRemovedItemThatIsHeardGivesWayToTheNext() {
        var machine = playing(itemCount: 3)
        #expect(
            machine.handle(.removed(index: 0, at: .seconds(2))) == [.begin(generation: 2), .open(item: 1, at: nil)])
        _ = machine.handle(.removed(index: 1, at: .zero))
        #expect(machine.heardItem == 1 && machine.following == nil)
        #expect(machine.handle(.removed(index: 0, at: .zero)) == [.begin(generation: 3), .close])
        #expect(machine.state == .ended(.finished))
        #expect(machine.handle(.play) == [])
    }

    @Test func aRemovedItemThatIsReadAheadIsNotHeard() {
        var machine = playing(itemCount: 3)
        #expect(machine.handle(.readToEnd) == [.append(item: 1)])
        #expect(
            machine.handle(.removed(index: 1, at: .seconds(9)))
                == [.begin(generation: 2), .open(item: 0, at: .seconds(9))])
        _ = machine.handle(.opened)
        #expect(machine.handle(.readToEnd) == [.append(item: 2)])
    }

    @Test func whatIsInsertedOrRepeatedAtTheEndIsReadOn() {
        var machine = playing(itemCount: 2)
        _ = machine.handle(.readToEnd)
        #expect(machine.handle(.readToEnd) == [.finish])
        #expect(machine.handle(.inserted(itemCount: 1, at: 0)) == [], "what comes before the end is not played")
        #expect(machine.handle(.moved(from: 0, to: 2)) == [.append(item: 2)])
        #expect(machine.handle(.readToEnd) == [.finish])
        #expect(machine.handle(.repeats(.all)) == [.append(item: 0)])
    }

    @Test func oneItemIsRepeatedAndLeftWhereItCannotBePlayed() {
        var machine = playing(itemCount: 2)
        _ = machine.handle(.repeats(.one))
        #expect(machine.handle(.readToEnd) == [.append(item: 0)])
        #expect(machine.handle(.failed(Self.error)) == [.skipped(item: 0, Self.error), .append(item: 1)])
        #expect(machine.handle(.next) == [.begin(generation: 2), .open(item: 1, at: nil)])
    }

    @Test func anItemIsSelected() {
        var machine = playing(itemCount: 4)
        #expect(machine.handle(.select(index: 2)) == [.begin(generation: 2), .open(item: 2, at: nil)])
        #expect(machine.handle(.next) == [.begin(generation: 3), .open(item: 3, at: nil)])
    }

    private func playing(itemCount: Int = 1) -> StreamStateMachine {
        var machine = StreamStateMachine()
        _ = machine.handle(.open(itemCount: itemCount, at: nil))
        for input in [StreamStateMachine.Input.play, .opened, .buffered, .hears(item: 0)] { _ = machine.handle(input) }
        return machine
    }
}
