/// The state of a recorder.
public struct RecorderStatus: Hashable, Sendable {
    /// The number of talkers that are being recorded.
    public var openCount = 0
    /// The number of recordings in the directory, and their size in bytes.
    public var recordingCount = 0
    public var byteCount = 0
    /// The number of hooks that were not run, because too many waited.
    public var droppedHookCount = 0
    /// The number of packets that were dropped, because the disk was too slow.
    public var droppedPacketCount = 0
    /// Whether the last file could not be written.
    public var hasFailed = false
}
