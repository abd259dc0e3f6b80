// MARK: Silence
extension Streamer {
    /// Whether pauses of speech are shortened: a pause of half a second or more below −45 dBFS becomes 200 ms long. The
    /// position jumps over the rest. Live streams keep their pauses. For any thread.
    public var skipsSilence: Bool {
        get { controller.mailbox.parameters.skipsSilence }
        set { controller.mailbox.parameters.skipsSilence = newValue }
    }

    /// The duration of the audio that `skipsSilence` has left out so far, in all items.
    public var skippedSilence: Duration { controller.mailbox.parameters.skippedSilence }
}
