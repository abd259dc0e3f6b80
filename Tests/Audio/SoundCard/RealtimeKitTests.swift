import Foundation
import Synchronization
import TestSupport
import Testing

@testable import TenfourSoundCard

@Suite(.onItsOwnThread) struct RealtimeKitTests {
    private func kit(_ mock: MockRealtimeKit, within timeout: Duration = .seconds(30)) -> RealtimeKit {
        RealtimeKit(busAddress: mock.address, timeout: timeout, limitProcessorTime: { _ in true })
    }

    /// Needs root, because the mock sets priorities as RealtimeKit does.
    @Test(.needsRoot) func aThreadIsGrantedTheMostThatItMayHave() throws {
        // Restores the ordinary priority, since other tests use this thread too.
        defer {
            var ordinary = sched_param()
            unsafe sched_setscheduler(0, SCHED_OTHER, &ordinary)
        }
        let mock = try MockRealtimeKit(.grant)
        let limits = Mutex<[Int64]>([])
        let client = RealtimeKit(
            busAddress: mock.address, timeout: .seconds(30),
            limitProcessorTime: { time in
                limits.withLock { $0.append(time) }
                return true
            })
        #expect(try client.grant(priority: 50).get() == 20)
        #expect(isThisThreadRealTime())
        // The priority of the network thread stays below that of the card's thread.
        #expect(try client.grant(priority: 45).get() == 18)
        #expect(try client.grant(priority: 1).get() == 1)
        #expect(mock.askedPriorities == [20, 18, 1])
        #expect(limits.withLock { $0 } == [200_000, 200_000, 200_000])
    }

    @Test(arguments: [
        (MockRealtimeKit.Mood.deny, RealtimeKit.Denial.refused), (.pretend, .refused), (.wrongTypes, .wrongAnswer),
        (.tiny, .wrongAnswer), (.none, .noService),
    ]) func aDenialHasItsReason(mood: MockRealtimeKit.Mood, denial: RealtimeKit.Denial) throws {
        let mock = try MockRealtimeKit(mood)
        #expect(kit(mock).grant(priority: 50) == .failure(denial))
        #expect(!isThisThreadRealTime())
    }

    /// The service's limit is checked before it is set: with a limit of zero, the kernel would kill the process.
    @Test(arguments: [MockRealtimeKit.Mood.wrongTypes, .tiny, .none]) func noLimitIsSetForAnAnswerThatMakesNoSense(
        mood: MockRealtimeKit.Mood
    ) throws {
        let mock = try MockRealtimeKit(mood)
        var client = kit(mock)
        client.limitProcessorTime = { _ in
            Issue.record("a limit was set")
            return false
        }
        _ = client.grant(priority: 50)
        #expect(mock.askedPriorities == [])
    }

    @Test(arguments: [MockRealtimeKit.Mood.hang, .deaf]) func aServiceThatHangsIsNotWaitedFor(
        mood: MockRealtimeKit.Mood
    ) throws {
        let mock = try MockRealtimeKit(mood)
        let start = ContinuousClock.now
        #expect(kit(mock, within: .milliseconds(300)).grant(priority: 50) == .failure(.timedOut))
        #expect(ContinuousClock.now - start < .seconds(15))
    }

    @Test func withoutABusNothingIsAsked() {
        let folder = Folder()
        let client = RealtimeKit(busAddress: "unix:path=\(folder("bus"))", limitProcessorTime: { _ in false })
        #expect(client.grant(priority: 50) == .failure(.noBus))
    }

    @Test func aLimitThatTheKernelRefusesIsADenial() throws {
        let mock = try MockRealtimeKit(.grant)
        let client = RealtimeKit(
            busAddress: mock.address, timeout: .seconds(30), limitProcessorTime: { _ in false })
        #expect(client.grant(priority: 50) == .failure(.noLimit))
        #expect(mock.askedPriorities == [])
    }

    @Test func theKernelIsAskedFirstAndRealtimeKitSecond() {
        let refused: (Int) -> Result<Int, Errno> = { _ in .failure(Errno(code: EPERM)) }
        let byLimit = RealTime.request(
            priority: 50, byLimit: { .success($0) },
            byRealtimeKit: { _ in
                Issue.record("RealtimeKit was called")
                return .failure(.noBus)
            })
        #expect(byLimit == .granted(priority: 50, by: .limit))
        let byKit = RealTime.request(priority: 50, byLimit: refused, byRealtimeKit: { _ in .success(20) })
        #expect(byKit == .granted(priority: 20, by: .realtimeKit) && byKit.isGranted)
        let denied = RealTime.request(priority: 500, byLimit: refused, byRealtimeKit: { _ in .failure(.noBus) })
        #expect(denied == .denied(priority: 99, .init(code: EPERM, realtimeKit: .noBus)) && !denied.isGranted)
    }

    /// The thread gives up its priority before the limit, at which the kernel would kill the process.
    @Test func aThreadThatNeverSleepsLosesItsPriorityAndNotItsLife() throws {
        let run = try Program.run("longturn", [])
        guard run.end != .code(3) else { return }
        #expect(run.end == .code(0) && run.output.contains("was withdrawn"), "\(run)")
    }

    @Test(.enabled(if: DebianPackage.isKnown, "needs a known Debian release"))
    func missingPackagesHaveTheirDebianNames() throws {
        let package = try #require(try DebianPackage.owner(of: "libsystemd.so.0"))
        #expect(RealtimeKit.Denial.noLibrary.remedy.contains(" \(package) "))
        #expect(try DebianPackage.dependencies(of: "libsystemd-dev").contains("\(package) (= "))
    }

    @Test func aDenialSaysWhatToDo() {
        for denial in [
            RealtimeKit.Denial.noLibrary, .noBus, .noService, .refused, .timedOut, .wrongAnswer, .noLimit,
        ] {
            let text = "\(RealTime.denied(priority: 50, .init(code: EPERM, realtimeKit: denial)))"
            #expect(text.contains(denial.remedy) && text.contains("limits.d/audio.conf") && !text.contains("\n"))
        }
    }
}
