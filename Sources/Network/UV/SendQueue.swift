import TenfourSession

/// Datagrams that wait until the kernel accepts more, first in, first out. All memory is allocated in `init`.
@safe struct SendQueue: ~Copyable {
    private let bytes: UnsafeMutableBufferPointer<UInt8>
    private var headers: [Header]
    private let longestDatagram: Int
    private var head = 0
    private(set) var count = 0

    private struct Header {
        var byteCount = 0
        var destination = Endpoint(.anyV4, port: 0)
    }

    init(capacity: Int, longestDatagram: Int) {
        precondition(capacity > 0 && longestDatagram > 0, "a send queue needs room for one byte at least")
        unsafe bytes = .allocate(capacity: capacity * longestDatagram)
        unsafe bytes.initialize(repeating: 0)
        headers = Array(repeating: Header(), count: capacity)
        self.longestDatagram = longestDatagram
    }

    deinit { unsafe bytes.deallocate() }

    /// Appends a datagram. Returns whether the oldest datagram was dropped to make space.
    mutating func append(_ datagram: Span<UInt8>, to destination: Endpoint) -> Bool {
        let isFull = count == headers.count
        if isFull { removeFirst() }
        let slot = (head + count) % headers.count
        for index in datagram.indices { unsafe bytes[slot * longestDatagram + index] = datagram[index] }
        headers[slot] = Header(byteCount: datagram.count, destination: destination)
        count += 1
        return isFull
    }

    /// Calls `body` with the oldest datagram; returns nil if the queue is empty.
    func withFirst<Result>(_ body: (Span<UInt8>, Endpoint) -> Result) -> Result? {
        if count == 0 { return nil }
        let header = headers[head]
        let start = head * longestDatagram
        let datagram = unsafe UnsafeBufferPointer(bytes)[start..<start + header.byteCount]
        return body(unsafe UnsafeBufferPointer(rebasing: datagram).span, header.destination)
    }

    mutating func removeFirst() {
        precondition(count > 0, "nothing waits in the send queue")
        head = (head + 1) % headers.count
        count -= 1
    }
}
