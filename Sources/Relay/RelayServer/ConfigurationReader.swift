internal import TenfourSystem

/// Reads configurations on a thread of its own, because a file may be long and its disk slow. Only one is read at a time; of
/// those that are to be read meanwhile, only the last is.
final class ConfigurationReader: Sendable {
    private let state = Locked(State())

    private struct State {
        /// Whether a thread is reading a configuration.
        var isReading = false
        /// The function that reads the next configuration, after the current reading has ended; nil if there is none.
        var next: RelayServer.Reading?
    }

    /// Calls `read`, and passes the configuration to `apply` unless it is nil. Returns without waiting, unless no thread can
    /// be created.
    func read(_ read: @escaping RelayServer.Reading, apply: @escaping @Sendable (RelayServerConfiguration) -> Void) {
        let isReading = state.withLock { state in
            if state.isReading { state.next = read } else { state.isReading = true }
            return state.next != nil
        }
        guard !isReading else { return }
        do throws(ThreadError) {
            try WorkerThread.detached { [self] in readAll(from: read, apply) }
        } catch {
            // Calls `read` on this thread if no thread can be created.
            readAll(from: read, apply)
        }
    }

    private func readAll(
        from first: @escaping RelayServer.Reading, _ apply: @Sendable (RelayServerConfiguration) -> Void
    ) {
        var next: RelayServer.Reading? = first
        while let read = next {
            if let configuration = read() { apply(configuration) }
            next = state.withLock { state in
                defer { state.next = nil }
                state.isReading = state.next != nil
                return state.next
            }
        }
    }
}
