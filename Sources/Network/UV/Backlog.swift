import Glibc
import TenfourAudioCore

/// What could not be sent yet of the packets that `FanOut`s send from one socket: one packet a stream at the most, the oldest
/// first in line, as all of them wait for the same socket. On the thread of its loop only.
@safe public final class Backlog {
    let socket: UDPSocket

    private unowned let loop: EventLoop
    private var writable: WritableHandle?
    private var timer: LoopTimer?
    private var waiting: [Waiting] = []
    /// Room for packets, used again.
    private var spare: [Copy] = []

    private struct Waiting {
        let fanOut: FanOut
        let stream: Int
        var rest: FanOut.Rest
        var copy: Copy
    }

    public init(of socket: UDPSocket, on loop: EventLoop) throws(NetworkError) {
        self.socket = socket
        self.loop = loop
        writable = try WritableHandle(on: loop, socket.fileDescriptor) { [unowned self] in sendMore() }
        timer = try loop.makeTimer { [unowned self] in sendMore() }
    }

    deinit { close() }

    /// Sends nothing more of what waits, and counts it as dropped. Before its socket is closed, or with it.
    public func close() {
        for entry in waiting { entry.fanOut.drop(entry.rest) }
        waiting = []
        writable?.close()
        timer?.close()
        (writable, timer) = (nil, nil)
    }

    var isEmpty: Bool { waiting.isEmpty }

    /// Keeps a copy of `datagram` for those who have not had it; the older one of its stream gives way, and its place in line.
    /// The newer one begins with those who have not had the older: otherwise they would never hear any.
    func hold(
        _ rest: FanOut.Rest, of datagram: Span<UInt8>, for fanOut: FanOut, _ stream: Int, _ obstacle: FanOut.Obstacle?
    ) {
        guard writable != nil else { return fanOut.drop(rest) }
        if let index = waiting.firstIndex(where: { $0.fanOut === fanOut && $0.stream == stream }) {
            fanOut.drop(waiting[index].rest)
            let next = waiting[index].rest.next
            waiting[index].rest = rest
            waiting[index].rest.begin(at: next)
            waiting[index].copy.fill(with: datagram)
        } else {
            let copy = spare.popLast() ?? Copy()
            copy.fill(with: datagram)
            waiting.append(Waiting(fanOut: fanOut, stream: stream, rest: rest, copy: copy))
        }
        if let obstacle { wait(for: obstacle) }
    }

    /// A member left, and those behind move up. False where nothing of theirs waits.
    func moveUp(_ fanOut: FanOut, from place: Int) -> Bool {
        var isWaiting = false
        for index in waiting.indices where waiting[index].fanOut === fanOut {
            waiting[index].rest.moveUp(from: place)
            isWaiting = true
        }
        return isWaiting
    }

    /// All members left.
    func removeAll(of fanOut: FanOut) {
        for index in waiting.indices where waiting[index].fanOut === fanOut {
            (waiting[index].rest.next, waiting[index].rest.end, waiting[index].rest.wrap) = (0, 0, 0)
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
            for entry in waiting[..<done] { spare.append(entry.copy) }
            waiting.removeFirst(done)
        }
        while done < waiting.count {
            let entry = waiting[done]
            if let obstacle = unsafe entry.fanOut.send(&waiting[done].rest, of: entry.copy.bytes) {
                return wait(for: obstacle)
            }
            done += 1
        }
    }
}

/// A packet that waits.
@safe private final class Copy {
    private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)
    private var count = 0

    deinit { unsafe room.deallocate() }

    var bytes: UnsafeRawBufferPointer { unsafe UnsafeRawBufferPointer(rebasing: room[..<count]) }

    func fill(with datagram: Span<UInt8>) {
        unsafe precondition(datagram.count <= room.count, "no datagram is so long")
        count = datagram.count
        unsafe datagram.withUnsafeBytes { unsafe room.copyMemory(from: $0) }
    }
}
