import Dispatch
public import Testing

/// Lets each test of a suite run on a thread of its own, so that one which waits for a process holds up no other.
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
