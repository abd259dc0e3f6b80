import CUV
import Glibc

/// Writes the ends of packets that differ from member to member. A `FanOut` calls it on the loop's thread.
public protocol TrailerWriter: AnyObject {
    /// Prepares the trailers of a packet.
    func begin(_ packet: Span<UInt8>)

    /// Appends the trailer of this packet for a member, at most 16 bytes. The same trailer is written again until `sent`.
    func write(for member: Int, into trailer: inout OutputSpan<UInt8>)

    /// Reports that the kernel has accepted the packet for a member, so that its next trailer is another one.
    func sent(to member: Int)
}

/// The trailers of the messages of one system call, in memory that all fan-outs of a thread share.
@safe final class FanOutTrailers {
    private let writer: (any TrailerWriter)?
    /// The two pieces of each message: the packet and the trailer.
    private let pieces: UnsafeMutablePointer<iovec>
    private let bytes: UnsafeMutablePointer<UInt8>
    /// Whether the writer knows the current packet.
    private var isPrepared = false
    private var datagram = unsafe UnsafeRawBufferPointer(start: nil, count: 0)

    /// The maximum number of messages in one system call. More than sixteen make no measurable difference, because the
    /// kernel spends most of the time on each datagram.
    static let capacity = 64
    private static let stride = 16

    init(_ writer: (any TrailerWriter)?) {
        self.writer = writer
        let count = writer == nil ? 0 : Self.capacity
        unsafe pieces = .allocate(capacity: 2 * count)
        unsafe bytes = .allocate(capacity: Self.stride * count)
        unsafe pieces.initialize(repeating: iovec(), count: 2 * count)
        unsafe bytes.initialize(repeating: 0, count: Self.stride * count)
    }

    deinit {
        unsafe pieces.deallocate()
        unsafe bytes.deallocate()
    }

    /// Begins with a packet, whose bytes must stay until its last `write`.
    func begin(_ datagram: UnsafeRawBufferPointer) {
        unsafe self.datagram = datagram
        isPrepared = false
    }

    /// Writes the trailers of those of `count` messages that have two pieces, and lets these messages point to the pieces.
    func write(
        behind packet: UnsafePointer<iovec>, to messages: UnsafeMutablePointer<tenfour_mmsghdr>,
        of members: UnsafePointer<Int32>, _ count: Int
    ) {
        guard let writer else { return }
        for index in 0..<count where unsafe messages[index].header.msg_iovlen == 2 {
            if !isPrepared {
                unsafe writer.begin(datagram.bindMemory(to: UInt8.self).span)
                isPrepared = true
            }
            let piece = unsafe pieces + 2 * index
            let room = unsafe UnsafeMutableBufferPointer(start: bytes + Self.stride * index, count: Self.stride)
            var trailer = unsafe OutputSpan(buffer: room, initializedCount: 0)
            unsafe writer.write(for: Int(members[index]), into: &trailer)
            let byteCount = unsafe trailer.finalize(for: room)
            unsafe piece[0] = packet.pointee
            unsafe piece[1] = iovec(iov_base: room.baseAddress, iov_len: byteCount)
            unsafe messages[index].header.msg_iov = piece
        }
    }

    /// Counts the trailers of the first `count` messages as sent, and returns their length in bytes.
    func sent(
        _ messages: UnsafePointer<tenfour_mmsghdr>, of members: UnsafePointer<Int32>, _ count: Int
    ) -> Int {
        guard let writer else { return 0 }
        var byteCount = 0
        for index in 0..<count where unsafe messages[index].header.msg_iovlen == 2 {
            unsafe writer.sent(to: Int(members[index]))
            unsafe byteCount += messages[index].header.msg_iov[1].iov_len
        }
        return byteCount
    }
}
