import Dispatch
public import Testing

/// A trait that runs each test of a suite on its own thread, so that a test that waits for a process delays no other
/// test.
public struct OwnThread: SuiteTrait, TestTrait, TestScoping {
    public var isRecursive: Bool { true }

    public func provideScope(
        for test: Test, testCase: Test.Case?, performing body: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(Threads()) { try await body() }
    }

    private final class Threads: TaskExecutor {
        private let queue = DispatchQueue(label: "test", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}

extension Trait where Self == OwnThread {
    public static var onItsOwnThread: Self { Self() }
}
