import CMicroHTTPD
import Glibc
import TenfourAudioCore

/// The newest bytes of a live stream, which all its listeners share. Bytes are counted from the stream's beginning; a
/// listener's offset is the count of those that it has, or has skipped.
struct StreamLog {
    private struct Append {
        var offset: Int
        var time: Instant
    }

    private var ring: [UInt8]
    /// Oldest first. The bytes of all but the first are still in the ring.
    private var appends: [Append] = []
    /// The offset after the newest byte.
    private(set) var end = 0
    private(set) var newestStartPoint = 0

    init(capacity: Int) { ring = [UInt8](repeating: 0, count: capacity) }

    /// The offset of the oldest byte that is still in the ring.
    var start: Int { max(0, end - ring.count) }

    /// Appends `bytes`, of which only the last are kept if they are more than the capacity.
    mutating func append(_ bytes: Span<UInt8>, isStartPoint: Bool, at now: Instant) {
        if isStartPoint { newestStartPoint = end }
        appends.append(Append(offset: end, time: now))
        for index in bytes.indices { ring[(end + index) % ring.count] = bytes[index] }
        end += bytes.count
        // Drops the forgotten ones together, so that an append costs the same on average however many there are.
        if appends.count > 64, let kept = appends.firstIndex(where: { $0.offset >= start }), kept > appends.count / 2 {
            appends.removeFirst(kept)
        }
    }

    /// The offset of the first byte that was appended after `time`.
    func offset(after time: Instant) -> Int {
        guard let older = appends.lastIndex(where: { $0.time <= time }) else { return 0 }
        return older + 1 < appends.count ? appends[older + 1].offset : end
    }

    /// The first offset, from `offset` on, at which an append began or will begin.
    func boundary(from offset: Int) -> Int { appends.first { $0.offset >= offset }?.offset ?? end }

    /// Sends the bytes of `offsets` to the socket in one or two calls. Returns how many were sent, or nil if the
    /// connection has failed. The C function is `send`.
    func send(_ offsets: Range<Int>, to descriptor: Int32) -> Int? {
        let first = offsets.lowerBound % ring.count
        let untilWrap = min(offsets.count, ring.count - first)
        return unsafe ring.withUnsafeBytes { ring in
            let more = untilWrap < offsets.count ? Int32(MSG_MORE) : 0
            guard let sent = unsafe write(ring[first..<first + untilWrap], more) else { return nil }
            guard sent == untilWrap, untilWrap < offsets.count else { return sent }
            return unsafe write(ring[..<(offsets.count - untilWrap)], 0).map { sent + $0 }
        }

        func write(_ bytes: Slice<UnsafeRawBufferPointer>, _ flags: Int32) -> Int? {
            unsafe tenfourSend(descriptor, UnsafeRawBufferPointer(rebasing: bytes), flags)
        }
    }
}

/// Sends without waiting and without SIGPIPE. Returns how many bytes the kernel took, or nil if the connection has
/// failed. The C function is `send`.
func tenfourSend(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer, _ flags: Int32 = 0) -> Int? {
    let flags = flags | Int32(MSG_DONTWAIT | MSG_NOSIGNAL)
    let sent = unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, flags)
    if sent >= 0 { return sent }
    return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : nil
}
