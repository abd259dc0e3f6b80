import CUV
import Glibc
public import TenfourSession

/// The members of one channel, and the function that sends each packet to all of them but one.
///
/// The kernel's structures are filled in when a member is added, so that sending a packet to a member does no work
/// except the system call. Members are served in a fixed order, so that each has a constant delay, as long as the
/// network accepts all packets. Use it on the loop's thread only. The C function is `sendmmsg`.
///
/// The copies of some members may end in a trailer of their own. It is a second piece of their messages, so that all
/// members share the packet.
@safe public final class FanOut {
    public private(set) var statistics = FanOutStatistics()

    /// The number of members.
    public private(set) var count = 0

    private let backlog: Backlog
    private let socket: UDPSocket
    private let trailers: FanOutTrailers
    private let family: Int32
    private let addressByteCount: Int
    private var capacity = 0
    /// One message for each member, in the order in which the members are served.
    private var messages: UnsafeMutablePointer<tenfour_mmsghdr>
    /// The address of each member, in the order of `messages`.
    private var addresses: UnsafeMutableRawPointer
    /// The number that identifies each member, in the order of `messages`.
    private var members: UnsafeMutablePointer<Int32>
    /// The packet that is being sent. All elements of `messages` point to it.
    private let packet: UnsafeMutablePointer<iovec>
    /// The index in `messages` of each member. The key is the number that identifies the member.
    private var places: [Int32: Int32] = [:]

    /// Creates a fan-out that sends from the socket of `backlog`.
    public init(sharing backlog: Backlog) {
        self.backlog = backlog
        socket = backlog.socket
        trailers = backlog.trailers
        family = socket.reach.family
        addressByteCount = Int(socket.reach.addressByteCount)
        unsafe packet = .allocate(capacity: 1)
        unsafe packet.initialize(to: iovec())
        unsafe messages = .allocate(capacity: 0)
        unsafe addresses = .allocate(byteCount: 0, alignment: 4)
        unsafe members = .allocate(capacity: 0)
    }

    deinit {
        unsafe messages.deallocate()
        unsafe addresses.deallocate()
        unsafe members.deallocate()
        unsafe packet.deallocate()
    }

    /// Adds a member at the end. It must not be a member already. `member`, chosen by the caller, is a number of at
    /// most 31 bits. If `endsInTrailer`, the trailer writer of the backlog writes the end of the member's copies.
    ///
    /// Sending to an IPv6 address fails if the socket has IPv4 only.
    public func add(_ member: Int, at endpoint: Endpoint, endsInTrailer: Bool = false) {
        precondition(places[Int32(member)] == nil, "a member was added twice")
        if count == capacity { grow() }
        let place = count
        count += 1
        places[Int32(member)] = Int32(place)
        unsafe members[place] = Int32(member)
        unsafe messages[place] = tenfour_mmsghdr()
        unsafe messages[place].header.msg_iov = packet
        unsafe messages[place].header.msg_iovlen = endsInTrailer ? 2 : 1
        unsafe messages[place].header.msg_namelen = socklen_t(addressByteCount)
        unsafe messages[place].header.msg_name = addresses + place * addressByteCount
        setAddress(of: place, endpoint)
    }

    /// Changes the address of a member, which keeps its position. Does nothing if `member` is not a member.
    public func move(_ member: Int, to endpoint: Endpoint) {
        if let place = places[Int32(member)] { setAddress(of: Int(place), endpoint) }
    }

    /// Removes a member. The last member takes its position in the order of sending. But while a packet is queued, the
    /// members behind the removed one move up by one instead. Otherwise the queue, which knows only by position who has
    /// received the packet, would be wrong. Does nothing if `member` is not a member.
    public func remove(_ member: Int) {
        guard let place = places.removeValue(forKey: Int32(member)).map(Int.init) else { return }
        count -= 1
        if backlog.removePlace(self, from: place) {
            for place in place..<count { fill(place, from: place + 1) }
        } else if place < count {
            fill(place, from: count)
        }
    }

    private func fill(_ place: Int, from other: Int) {
        unsafe members[place] = members[other]
        unsafe places[members[place]] = Int32(place)
        unsafe messages[place].header.msg_iov = messages[other].header.msg_iov
        unsafe messages[place].header.msg_iovlen = messages[other].header.msg_iovlen
        unsafe (addresses + place * addressByteCount)
            .copyMemory(from: addresses + other * addressByteCount, byteCount: addressByteCount)
    }

    /// Removes all members.
    public func removeAll() {
        count = 0
        places = [:]
        backlog.removeAll(of: self)
    }

    /// Sends `datagram` to all members but `except`. If the socket's send buffer is full, the datagram waits for the
    /// remaining members. It waits until the socket accepts datagrams again, or the next datagram with the same number
    /// `stream` replaces it.
    public func send(_ datagram: Span<UInt8>, stream: Int = 0, except: Int? = nil) {
        var remainder = Remainder(end: count, remainingCount: count, except: except.map { Int32($0) })
        if let excluded = remainder.except, places[excluded] != nil { remainder.remainingCount -= 1 }
        statistics.offered += remainder.remainingCount
        if socket.isClosed { return drop(remainder) }
        var obstacle: Obstacle?
        if backlog.isEmpty {
            obstacle = unsafe datagram.withUnsafeBytes { unsafe send(&remainder, of: $0) }
            if remainder.remainingCount == 0 { return }
        }
        backlog.enqueue(remainder, of: datagram, for: self, stream, obstacle)
    }

    /// The members to whom a packet must still be sent.
    struct Remainder {
        /// The index of the next member to be served.
        var next = 0
        /// The index before which the first pass over the members ends.
        var end: Int
        /// The index before which the second pass ends. That pass begins at index 0. Zero if there is no second pass.
        var wrap = 0
        /// The number of members that have neither been served nor counted as dropped.
        var remainingCount: Int
        /// The member that does not get the packet. Its index may have changed since the packet was queued.
        var except: Int32?
        /// The index of the member for which the kernel last returned ENOBUFS; −1 if it has not returned ENOBUFS.
        var refused = -1

        /// Makes sending begin at the index `place` and end with the index before it. Does nothing if a member was
        /// already served, or if no member is at `place`.
        mutating func begin(at place: Int) {
            guard next == 0, place < end else { return }
            (next, wrap) = (place, place)
        }

        /// Adjusts the indexes after a member has left. Its index was `place`, and the members behind it have moved up
        /// by one.
        mutating func removePlace(from place: Int) {
            if place < next { next -= 1 }
            if place < end { end -= 1 }
            if place < wrap { wrap -= 1 }
            refused = place < refused ? refused - 1 : place == refused ? -1 : refused
        }

        /// Begins the second pass: the members before the one that was served first. Returns false if there is no
        /// second pass.
        fileprivate mutating func wrapAround() -> Bool {
            if wrap == 0 { return false }
            (next, end, wrap) = (0, wrap, 0)
            return true
        }
    }

    /// The reason why the kernel accepts no more datagrams now.
    enum Obstacle {
        /// The socket's send buffer is full (EAGAIN). The kernel reports when it has space again.
        case socket
        /// A queue behind the socket is full (ENOBUFS). The kernel does not report when it has space again, so a timer
        /// repeats the sending after 1 ms.
        case queue
    }

    /// Sends the packet to as many members of `remainder` as the kernel accepts, and counts the results. Returns the
    /// reason why sending stopped; nil if no member remains.
    func send(_ remainder: inout Remainder, of datagram: UnsafeRawBufferPointer) -> Obstacle? {
        unsafe packet.pointee.iov_base = UnsafeMutableRawPointer(mutating: datagram.baseAddress)
        unsafe packet.pointee.iov_len = datagram.count
        unsafe trailers.begin(datagram)
        let excluded = remainder.except.flatMap { places[$0] }.map(Int.init) ?? -1
        var reports = 0
        while remainder.remainingCount > 0 {
            if remainder.next >= remainder.end, !remainder.wrapAround() { break }
            if remainder.next == excluded {
                remainder.next += 1
                continue
            }
            let end = excluded > remainder.next ? min(excluded, remainder.end) : remainder.end
            let batch = min(end - remainder.next, remainder.remainingCount, FanOutTrailers.capacity)
            unsafe trailers.write(behind: packet, to: messages + remainder.next, of: members + remainder.next, batch)
            let sent = unsafe Int(tenfour_sendmmsg(socket.fileDescriptor, messages + remainder.next, UInt32(batch)))
            if sent > 0 {
                statistics.sent += sent
                statistics.sentByteCount += sent * datagram.count
                unsafe statistics.sentByteCount += trailers.sent(
                    messages + remainder.next, of: members + remainder.next, sent)
                remainder.next += sent
                remainder.remainingCount -= sent
                reports = 0
                continue
            }
            switch Int32(-sent) {
            case EAGAIN: return .socket
            case ENOBUFS where remainder.refused != remainder.next:
                remainder.refused = remainder.next
                return .queue
            case ENOBUFS: statistics.dropped += 1
            case let code:
                // Tries again if the error was a pending ICMP error about an earlier datagram, to any destination. Such
                // an error makes one call fail.
                if reports < 3, socket.readErrorReports() > 0 {
                    reports += 1
                    continue
                }
                statistics.failed += 1
                socket.statistics.countFailure(code, to: endpoint(at: remainder.next))
            }
            remainder.next += 1
            remainder.remainingCount -= 1
            reports = 0
        }
        drop(remainder)
        remainder.remainingCount = 0
        return nil
    }

    /// Counts the members of `remainder` as dropped.
    func drop(_ remainder: Remainder) { statistics.dropped += remainder.remainingCount }

    private func endpoint(at place: Int) -> Endpoint? {
        let address = unsafe addresses + place * addressByteCount
        return unsafe Endpoint(address.assumingMemoryBound(to: sockaddr.self))
    }

    private func setAddress(of place: Int, _ endpoint: Endpoint) {
        let address = SocketAddress(endpoint, family: family)
        unsafe address.withPointer {
            unsafe (addresses + place * addressByteCount).copyMemory(from: $0, byteCount: addressByteCount)
        }
    }

    private func grow() {
        let room = max(16, capacity + capacity / 2)
        let moreMessages = UnsafeMutablePointer<tenfour_mmsghdr>.allocate(capacity: room)
        let moreAddresses = UnsafeMutableRawPointer.allocate(byteCount: room * addressByteCount, alignment: 4)
        let moreMembers = UnsafeMutablePointer<Int32>.allocate(capacity: room)
        unsafe moreMessages.update(from: messages, count: count)
        unsafe moreAddresses.copyMemory(from: addresses, byteCount: count * addressByteCount)
        unsafe moreMembers.update(from: members, count: count)
        for place in 0..<count { unsafe moreMessages[place].header.msg_name = moreAddresses + place * addressByteCount }
        unsafe messages.deallocate()
        unsafe addresses.deallocate()
        unsafe members.deallocate()
        unsafe (messages, addresses, members) = unsafe (moreMessages, moreAddresses, moreMembers)
        capacity = room
    }
}

/// Counts of the packets of one `FanOut`. A packet counts once for each member, and is queued, sent, dropped or failed.
public struct FanOutStatistics: Equatable, Sendable {
    /// The number of packets, each counted once for each member to whom it should be sent.
    public var offered = 0
    /// The number of packets that the kernel has accepted.
    public var sent = 0
    /// The number of bytes in the packets that the kernel has accepted, without the headers of UDP and IP.
    public var sentByteCount = 0
    /// The number of packets that were dropped, because the next packet of the stream replaced them, the kernel
    /// returned ENOBUFS twice, or the member had left.
    public var dropped = 0
    /// The number of packets that the kernel refused to send to their destination. `SocketStatistics.failures` has the
    /// reasons.
    public var failed = 0

    public init() {}

    public static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.offered += right.offered
        sum.sent += right.sent
        sum.sentByteCount += right.sentByteCount
        sum.dropped += right.dropped
        sum.failed += right.failed
        return sum
    }
}
