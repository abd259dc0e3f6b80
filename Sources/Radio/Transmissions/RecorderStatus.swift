/// The state of a recorder.
struct RecorderStatus: Hashable, Sendable {
    /// The number of talkers that are being recorded.
    var openCount = 0
    /// The size of the recordings in the directory, in bytes.
    var byteCount = 0
    /// The number of packets that were dropped, because the disk was too slow.
    var droppedPacketCount = 0
    /// Whether the last file could not be written.
    var hasFailed = false
}
