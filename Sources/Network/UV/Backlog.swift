import Glibc
import TenfourAudioCore

/// The packets that several `FanOut`s could not send immediately from one socket. The backlog holds at most one packet
/// of each stream and sends the oldest first, because all packets wait for the same socket. Use it on the loop's thread
/// only.
@safe public final class Backlog {
    let socket: UDPSocket
    let trailers: FanOutTrailers

    private unowned let loop: EventLoop
    private var writable: WritableHandle?
    private var timer: LoopTimer?
    private var waiting: [QueuedPacket] = []
    /// The buffers of packets that have been sent. New packets use them again.
    private var freeBuffers: [PacketBuffer] = []

    private struct QueuedPacket {
        let fanOut: FanOut
        let stream: Int
        var remainder: FanOut.Remainder
        var copy: PacketBuffer
    }

    /// `trailers` writes the ends of the packets of all fan-outs; nil if they have none.
    public init(
        of socket: UDPSocket, on loop: EventLoop, trailers: (any TrailerWriter)? = nil
    ) throws(NetworkError) {
        self.socket = socket
        self.trailers = FanOutTrailers(trailers)
        self.loop = loop
        writable = try WritableHandle(on: loop, socket.fileDescriptor) { [unowned self] in sendMore() }
        timer = try loop.makeTimer { [unowned self] in sendMore() }
    }

    deinit { close() }

    /// Drops the waiting packets, and counts them as dropped. Call this before the socket is closed, or together with
    /// closing it.
    public func close() {
        for entry in waiting { entry.fanOut.drop(entry.remainder) }
        waiting = []
        writable?.close()
        timer?.close()
        (writable, timer) = (nil, nil)
    }

    var isEmpty: Bool { waiting.isEmpty }

    /// Queues a copy of `datagram` for the members in `remainder`, which have not received it. If an older packet of
    /// the same stream is queued, the new packet takes its position in the queue. The new packet is then sent first to
    /// the members that missed the older one. If sending always began with the first member, the last members might
    /// receive no packet at all.
    func enqueue(
        _ remainder: FanOut.Remainder, of datagram: Span<UInt8>, for fanOut: FanOut, _ stream: Int,
        _ obstacle: FanOut.Obstacle?
    ) {
        guard writable != nil else { return fanOut.drop(remainder) }
        if let index = waiting.firstIndex(where: { $0.fanOut === fanOut && $0.stream == stream }) {
            fanOut.drop(waiting[index].remainder)
            let next = waiting[index].remainder.next
            waiting[index].remainder = remainder
            waiting[index].remainder.begin(at: next)
            waiting[index].copy.fill(with: datagram)
        } else {
            let copy = freeBuffers.popLast() ?? PacketBuffer()
            copy.fill(with: datagram)
            waiting.append(QueuedPacket(fanOut: fanOut, stream: stream, remainder: remainder, copy: copy))
        }
        if let obstacle { wait(for: obstacle) }
    }

    /// Adjusts the queued packets of `fanOut` after a member has left. The member's index was `place`, and the members
    /// behind it have moved up by one. Returns false if no packet of `fanOut` is queued.
    func removePlace(_ fanOut: FanOut, from place: Int) -> Bool {
        var isWaiting = false
        for index in waiting.indices where waiting[index].fanOut === fanOut {
            waiting[index].remainder.removePlace(from: place)
            isWaiting = true
        }
        return isWaiting
    }

    /// Ends the sending of the queued packets of `fanOut`, because all of its members have left.
    func removeAll(of fanOut: FanOut) {
        for index in waiting.indices where waiting[index].fanOut === fanOut {
            (waiting[index].remainder.next, waiting[index].remainder.end, waiting[index].remainder.wrap) = (0, 0, 0)
        }
    }

    private func wait(for obstacle: FanOut.Obstacle) {
        switch obstacle {
        case .socket: writable?.wait()
        case .queue: timer?.arm(at: loop.now + .milliseconds(1))
        }
    }

    private func sendMore() {
        var done = 0
        defer {
            for entry in waiting[..<done] { freeBuffers.append(entry.copy) }
            waiting.removeFirst(done)
        }
        while done < waiting.count {
            let entry = waiting[done]
            if let obstacle = unsafe entry.fanOut.send(&waiting[done].remainder, of: entry.copy.bytes) {
                return wait(for: obstacle)
            }
            done += 1
        }
    }
}

/// The bytes of a queued packet.
@safe private final class PacketBuffer {
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    private var count = 0

    deinit { unsafe room.deallocate() }

    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: room[..<count]) }

    func fill(with datagram: Span<UInt8>) {
        unsafe precondition(datagram.count <= room.count, "a datagram has more than 65536 bytes")
        count = datagram.count
        unsafe datagram.withUnsafeBytes { unsafe room.copyMemory(from: $0) }
    }
}
