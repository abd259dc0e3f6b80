import Testing

@testable import tenfour

/// Tests the measured duration of stops.
struct ProcessStopMonitorTests {
    @Test func aStopIsReportedOnceWithItsLength() {
        var stops = ProcessStopMonitor()
        let start = SuspendingClock.now
        #expect(stops.poll(at: start, wasContinued: false) == nil)
        #expect(stops.poll(at: start + .seconds(4), wasContinued: true) == .seconds(4))
        #expect(stops.isRecent(at: start + .seconds(5)) && !stops.isRecent(at: start + .seconds(20)))
        #expect(stops.poll(at: start + .milliseconds(4_200), wasContinued: false) == nil)
        #expect(stops.total == .seconds(4))
    }

    /// The signal handler may run only after the first poll that follows the gap.
    @Test func aSignalThatComesLateStillTellsOfTheGap() {
        var stops = ProcessStopMonitor()
        let start = SuspendingClock.now
        #expect(stops.poll(at: start, wasContinued: false) == nil)
        #expect(stops.poll(at: start + .seconds(4), wasContinued: false) == nil, "a gap without SIGCONT is no stop")
        #expect(stops.poll(at: start + .milliseconds(4_200), wasContinued: true) == .seconds(4))
    }

    @Test func aContinuationOfWhatWasNotStoppedIsNone() {
        var stops = ProcessStopMonitor()
        #expect(
            stops.poll(at: SuspendingClock.now + .milliseconds(200), wasContinued: true) == nil && stops.total == .zero)
    }
}
