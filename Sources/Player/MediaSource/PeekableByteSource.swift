internal import Synchronization
internal import TenfourSystem

/// A byte source whose bytes a second reader may look at, without influence on what is fetched and kept.
package protocol PeekableByteSource: ByteSource {
    /// Copies the bytes at `offset` that are here into `buffer`, as many as fit. Returns 0 at the end of the resource, and
    /// nil if the byte at `offset` is not here. Never waits. For any thread.
    func peek(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int?
}

/// A second reader of a byte source: reads what the first one has fetched, as it arrives, and fetches nothing itself.
///
/// For one thread at a time, apart from `interrupt` and `stop`.
package final class PeekingByteSource: ByteSource {
    private let base: any PeekableByteSource
    private let wakeup: WakeupPipe
    private let isInterrupted = Atomic(false)
    private let isStopped = Atomic(false)

    /// The distance behind the last byte that is here up to which bytes are waited for.
    private static let nearby = 1 << 20
    /// The pause, in milliseconds, between two looks at whether more has arrived.
    private static let interval: Int32 = 50

    /// The error of a read of bytes that are not here and will not come by themselves.
    package static let absence = ByteSourceError.failed("these bytes are not kept")

    package init(_ base: any PeekableByteSource) throws(ByteSourceError) {
        self.base = base
        do throws(WakeupPipeError) { wakeup = try WakeupPipe() } catch {
            throw .failed("too many files are open: raise `ulimit -n`")
        }
    }

    package var state: ByteSourceState { base.state }

    /// The limits of the first reader. Setting them has no effect.
    package var limits: BufferLimits {
        get { base.limits }
        set {}
    }

    /// Waits for bytes that follow those that are here. Throws `absence` for other bytes that are not here.
    package func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(ByteSourceError) -> Int {
        while true {
            if isInterrupted.load(ordering: .acquiring) || isStopped.load(ordering: .acquiring) { throw .interrupted }
            // Before the bytes, since the last of them may arrive in between.
            let state = base.state
            if let count = try unsafe base.peek(at: offset, into: buffer) { return count }
            let isComing = state.held.upperBound <= offset && offset - state.held.upperBound < Self.nearby
            switch state.phase {
            case .failed, .ended: throw Self.absence
            case .connecting, .receiving, .full, .reconnecting: if !isComing { throw Self.absence }
            }
            wakeup.wait(atMost: Self.interval)
        }
    }

    package func interrupt() {
        isInterrupted.store(true, ordering: .releasing)
        wakeup.signal()
    }

    package func resume() { isInterrupted.store(false, ordering: .releasing) }
    package func pause(_ isPaused: Bool) {}

    /// Ends this reader, not the first one.
    package func stop() {
        isStopped.store(true, ordering: .releasing)
        wakeup.signal()
    }
}
