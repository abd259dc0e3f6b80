import Foundation
import Synchronization
import TenfourAudioCore
import TenfourSystem
import TestSupport
import Testing

@testable import TenfourPushToTalk

/// The thread of a source, with devices that misbehave. They take seconds, because the pauses between the searches do.
@Suite(.onItsOwnThread) struct DeviceRunTests {
    private let tree = DeviceTree()
    private let log = PTTEventLog()

    /// The finder of a test: it counts its searches, and opens the device at `path`, if that is there.
    private final class CountingFinder: DeviceFinder, Sendable {
        let folder: String
        let findsSeveral = false
        private let count = Mutex(0)
        private let path: String?

        init(_ tree: DeviceTree, path: String? = nil) { (folder, self.path) = (tree.root, path) }

        var searchCount: Int { count.withLock { $0 } }

        func isDevice(_ name: String) -> Bool { false }

        func find(except open: Set<String>) -> DeviceSearch {
            count.withLock { $0 += 1 }
            var search = DeviceSearch()
            search.record(PTTDeviceError(.notFound, "not there"))
            if let path, let file = try? DeviceFile(path) {
                search.devices.append(EvdevDevice(file, name: "device", path: path, code: 183))
            }
            return search
        }
    }

    /// The processor time of a thread and whether it is to end.
    private final class Control: Sendable {
        let isStopping = Atomic(false)
        let nanoseconds = Atomic(0)
    }

    /// Runs a finder while `body` runs. Returns the processor time of its thread, and the most searches that there may be
    /// in that time: one at the start, and one each second.
    private func run(_ finder: CountingFinder, while body: () -> Void) throws -> (used: Duration, searchLimit: Int) {
        let start = ContinuousClock.now
        let wakeup = try WakeupPipe()
        let control = Control()
        let thread = try WorkerThread { [log] in
            var run = DeviceRun(finder, wakeup) { log.add($0) }
            run.untilStopped { control.isStopping.load(ordering: .acquiring) }
            var time = timespec()
            unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
            control.nanoseconds.store(time.tv_sec * 1_000_000_000 + time.tv_nsec, ordering: .releasing)
        }
        body()
        control.isStopping.store(true, ordering: .releasing)
        wakeup.signal()
        thread.join()
        let used = Duration.nanoseconds(control.nanoseconds.load(ordering: .acquiring))
        return (used, Int(start.duration(to: .now) / .seconds(1)) + 1)
    }

    @Test func aMissingDeviceIsLookedForEverySecondAtMost() throws {
        let finder = CountingFinder(tree)
        let (used, limit) = try run(finder) { usleep(2_500_000) }
        #expect((1...limit).contains(finder.searchCount), "\(finder.searchCount)")
        #expect(used < .milliseconds(100), "\(used)")
        #expect(log.words == ["gone: notFound"])
    }

    @Test func aDeviceThatIsGoneAgainAtOnceIsLookedForEverySecondAtMost() throws {
        // A recording without events.
        tree.write([], to: tree.path("empty"))
        let finder = CountingFinder(tree, path: tree.path("empty"))
        let (used, limit) = try run(finder) { usleep(2_500_000) }
        #expect((1...limit).contains(finder.searchCount), "\(finder.searchCount)")
        #expect(used < .milliseconds(100), "\(used)")
        #expect(log.words.prefix(3) == ["back: device", "gone: notFound", "back: device"])
    }

    @Test func aDeviceThatNeverStopsIsReadEveryTwoMilliseconds() throws {
        let flood = tree.pipe("flood")
        let finder = CountingFinder(tree, path: tree.path("flood"))
        let events = (0..<170).flatMap { _ in InputEvent(time: .start, type: 2, code: 0, value: 1).bytes }
        let start = ContinuousClock.now
        var writtenByteCount = 0
        let (used, _) = try run(finder) {
            while ContinuousClock.now - start < .seconds(1) {
                if flood.offer(events) { writtenByteCount += events.count } else { usleep(200) }
            }
        }
        let readCount = (writtenByteCount - 65_536) / DeviceFile.byteCount
        print("processor time for a second of a flood: \(used), reads: \(readCount)")
        // A pipe holds 64 KiB. A read may end before the buffer is full.
        #expect(Double(readCount) <= start.duration(to: .now) / DeviceRun.floodPause + 5)
        #expect(log.words.first == "back: device")
    }
}
