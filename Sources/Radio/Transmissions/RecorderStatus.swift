/// The state of a recorder.
struct RecorderStatus: Hashable, Sendable {
    /// The number of talkers that are being recorded.
    var openCount = 0
    /// The number of recordings in the directory, and their size in bytes.
    var recordingCount = 0
    var byteCount = 0
    /// The number of hooks that were not run, because too many waited.
    var droppedHookCount = 0
    /// The number of packets that were dropped, because the disk was too slow.
    var droppedPacketCount = 0
    /// Whether the last file could not be written.
    var hasFailed = false
}
