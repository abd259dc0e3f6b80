internal import TenfourAudioCore
internal import TenfourPackets

/// The last payloads that were sent, kept for copies in later packets. Allocates at `init` only.
struct RecentPayloads: Sendable {
    private var bytes = [UInt8](repeating: 0, count: count * RedundantPayload.maximumByteCount)
    private var entries = InlineArray<4, Entry?>(repeating: nil)
    private var next = 0

    struct Entry: BitwiseCopyable, Sendable {
        var position: FrameCount
        var byteCount: Int
        fileprivate var start: Int
    }

    /// The number of payloads kept. The maximum distance of a copy is one less.
    private static let count = 4

    /// Keeps a payload for copies, unless it is too long for a copy.
    mutating func insert(_ payload: Span<UInt8>, at position: FrameCount) {
        defer { next = (next + 1) % Self.count }
        guard payload.count <= RedundantPayload.maximumByteCount else {
            entries[next] = nil
            return
        }
        let start = next * RedundantPayload.maximumByteCount
        for index in payload.indices { bytes[start + index] = payload[index] }
        entries[next] = Entry(position: position, byteCount: payload.count, start: start)
    }

    /// Returns the payload whose audio begins at `position`; nil if it is not kept.
    func entry(at position: FrameCount) -> Entry? {
        for index in entries.indices {
            if let entry = entries[index], entry.position == position { return entry }
        }
        return nil
    }

    func append(_ entry: Entry, to datagram: inout OutputSpan<UInt8>) {
        for index in entry.start..<entry.start + entry.byteCount { datagram.append(bytes[index]) }
    }
}
