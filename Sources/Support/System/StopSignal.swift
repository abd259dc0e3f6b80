internal import Synchronization

/// Tells one thread to end, and wakes it from its wait. The thread looks at `isStopped` after each wait on `wakeup`.
package final class StopSignal: Sendable {
    package let wakeup: WakeupPipe
    private let flag = Atomic(false)

    package init() throws(WakeupPipeError) { wakeup = try WakeupPipe() }

    package var isStopped: Bool { flag.load(ordering: .acquiring) }

    /// Tells the thread to end, and does not wait for it. For any thread.
    package func stop() {
        flag.store(true, ordering: .releasing)
        wakeup.signal()
    }
}
