internal import TenfourAudioCore

// MARK: The card
extension PlayoutController {
    /// Skips the audio that was due in `frames` of time that the card has lost.
    ///
    /// `missed` is the time for which the card was silent, if the length of its queue has changed. `goesOn` is true if
    /// nothing was played since the last loss; both losses are then one dropout.
    @_noAllocation @_noLocks
    mutating func skip(_ frames: FrameCount, missed: FrameCount? = nil, goesOn: Bool = false) {
        guard let position = playing?.position else { return }
        statistics.countSkipped(missed ?? frames, goesOn: goesOn)
        guard frames > .zero else { return }
        playing?.position = position + frames
        skippedTo = position + frames
        while let head = queue.head, head.end <= position + frames {
            last = DecodedPacket(head)
            queue.removeHead()
        }
    }

    /// Adds `frames` to the measured delays, because the card's clock was adjusted by this number.
    @_noAllocation @_noLocks
    mutating func shiftArrivals(by frames: FrameCount) { delay.shift(by: frames) }

    /// Records that the card does not play `frames` of the pulled audio. `goesOn` is true if nothing was played since
    /// the last loss; both losses are then one dropout.
    @_noAllocation @_noLocks
    mutating func recordUnplayed(_ frames: FrameCount, goesOn: Bool = false) {
        guard playing != nil, frames > .zero else { return }
        statistics.countUnplayed(frames, goesOn: goesOn)
    }
}
