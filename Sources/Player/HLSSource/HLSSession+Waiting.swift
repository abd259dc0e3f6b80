internal import TenfourAudioCore
internal import TenfourMediaSource

// Waiting for segments and playlists, and what the player is told of them.
extension HLSSession {
    /// Waits until a segment of `chain` can be read. Returns false at the end.
    func waitForSegment(of chain: HLSChain) throws(ByteSourceError) -> Bool {
        while true {
            let now = now
            poll(at: now)
            chain.poll(at: now)
            switch try chain.head() {
            case .slot(let slot): if slot.source != nil { return true }
            case .waiting: break
            case .ended:
                if !hasWorked, let failure = chain.lastFailure { throw failure }
                return false
            }
            publish(chain, at: nil)
            try wait()
        }
    }

    /// Loads the playlist again if it may be outdated, and waits for it, but not longer than `limit`.
    func reloadIfOutdated(for limit: Duration) throws(ByteSourceError) {
        let begin = now
        while isOutdated(at: now), now - begin < limit {
            poll(at: now)
            if isOutdated(at: now) { try wait() }
        }
    }

    /// Tells the player how far the stream has been fetched. `position` is the position of the reader, if it is known.
    func publish(_ chain: HLSChain, at position: Duration?) {
        var state = fetches.state
        state.isLive = !timeline.isEnded
        if let attempt = reloadFailures {
            state.phase = .reconnecting(attempt: attempt)
        } else {
            state.phase = chain.isWhole ? .ended : chain.isFilled ? .full : .receiving
        }
        let count = chain.bufferedByteCount
        state.available = 0..<count
        state.held = 0..<count
        state.window = timeline.isEnded ? nil : max(timeline.window.lowerBound, .zero)..<max(timeline.edge, .zero)
        if timeline.isEnded, let position {
            state.downloaded = position..<max(chain.bufferedEnd ?? position, position)
        }
        fetches.state = state
    }
}

extension HLSDownload {
    /// Returns all bytes. Blocks until they have arrived, but not longer than until `end`.
    func whole(until end: Instant) throws(ByteSourceError) -> [UInt8] {
        while true {
            if let bytes = try poll() { return bytes }
            try wait(until: end)
        }
    }
}
