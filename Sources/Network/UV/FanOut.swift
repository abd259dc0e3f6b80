import CUV
import Glibc
public import TenfourSession

/// The members of one channel, and what sends a packet to each of them but one.
///
/// What the kernel wants for each member is made when the member comes: a packet costs no work a member but the kernel's.
/// Members are served in one order, so that each has the same delay all the time, while the network takes all.
/// On the thread of its loop only.
/// The C function is `sendmmsg`.
@safe public final class FanOut {
    public private(set) var statistics = FanOutStatistics()

    /// How many members there are.
    public private(set) var count = 0

    private let backlog: Backlog
    private let socket: UDPSocket
    private let family: Int32
    private let addressByteCount: Int
    private var capacity = 0
    /// One for each member, in the order of sending.
    private var messages: UnsafeMutablePointer<tenfour_mmsghdr>
    private var addresses: UnsafeMutableRawPointer
    private var members: UnsafeMutablePointer<Int32>
    /// The packet that is being sent, which every message names.
    private let packet: UnsafeMutablePointer<iovec>
    private var places: [Int32: Int32] = [:]

    /// Sends from the socket of `backlog`.
    public init(sharing backlog: Backlog) {
        self.backlog = backlog
        socket = backlog.socket
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

    /// Adds a member, who must not be there, at the end. `member` is a number of 31 bits.
    ///
    /// An IPv6 address, where the socket has IPv4 only, is a destination that fails.
    public func add(_ member: Int, at endpoint: Endpoint) {
        precondition(places[Int32(member)] == nil, "a member was added twice")
        if count == capacity { grow() }
        let place = count
        count += 1
        places[Int32(member)] = Int32(place)
        unsafe members[place] = Int32(member)
        unsafe messages[place] = tenfour_mmsghdr()
        unsafe messages[place].header.msg_iov = packet
        unsafe messages[place].header.msg_iovlen = 1
        unsafe messages[place].header.msg_namelen = socklen_t(addressByteCount)
        unsafe messages[place].header.msg_name = addresses + place * addressByteCount
        setAddress(of: place, endpoint)
    }

    /// Sends to another address from now on, at the same place. Does nothing for who is not there.
    public func move(_ member: Int, to endpoint: Endpoint) {
        if let place = places[Int32(member)] { setAddress(of: Int(place), endpoint) }
    }

    /// Sends nothing more to this member; the last one takes the place. But while a packet waits all behind move up, so that it
    /// stays known by its places who has had it. Does nothing for who is not there.
    public func remove(_ member: Int) {
        guard let place = places.removeValue(forKey: Int32(member)).map(Int.init) else { return }
        count -= 1
        if backlog.moveUp(self, from: place) {
            for place in place..<count { fill(place, from: place + 1) }
        } else if place < count {
            fill(place, from: count)
        }
    }

    private func fill(_ place: Int, from other: Int) {
        unsafe members[place] = members[other]
        unsafe places[members[place]] = Int32(place)
        unsafe (addresses + place * addressByteCount)
            .copyMemory(from: addresses + other * addressByteCount, byteCount: addressByteCount)
    }

    /// Sends nothing more to anybody.
    public func removeAll() {
        count = 0
        places = [:]
        backlog.removeAll(of: self)
    }

    /// Sends `datagram` to all members but `except`. What cannot be sent at once waits until it can, or until the next datagram
    /// of the same `stream` comes.
    public func send(_ datagram: Span<UInt8>, stream: Int = 0, except: Int? = nil) {
        var rest = Rest(end: count, owed: count, except: except.map { Int32($0) })
        if let excluded = rest.except, places[excluded] != nil { rest.owed -= 1 }
        statistics.offered += rest.owed
        if socket.isClosed { return drop(rest) }
        var obstacle: Obstacle?
        if backlog.isEmpty {
            obstacle = unsafe datagram.withUnsafeBytes { unsafe send(&rest, of: $0) }
            if rest.owed == 0 { return }
        }
        backlog.hold(rest, of: datagram, for: self, stream, obstacle)
    }

    /// The part of a packet's fan-out that is still to be sent.
    struct Rest {
        /// The places of those who have not had it.
        var next = 0
        var end: Int
        /// Behind the end it goes on from the first to here.
        var wrap = 0
        /// How many of them are to have it, or else to be counted.
        var owed: Int
        /// A member, who may have another place by now.
        var except: Int32?
        /// Where a queue of the kernel had no room when it was tried last.
        var refused = -1

        /// Begins there, and ends with those before.
        mutating func begin(at place: Int) {
            guard next == 0, place < end else { return }
            (next, wrap) = (place, place)
        }

        /// The member at that index has left, and another has moved there.
        mutating func moveUp(from place: Int) {
            if place < next { next -= 1 }
            if place < end { end -= 1 }
            if place < wrap { wrap -= 1 }
            refused = place < refused ? refused - 1 : place == refused ? -1 : refused
        }

        /// Goes on with those before; false where there are none.
        fileprivate mutating func wrapAround() -> Bool {
            if wrap == 0 { return false }
            (next, end, wrap) = (0, wrap, 0)
            return true
        }
    }

    /// Why no more can be sent now.
    enum Obstacle {
        /// The socket's buffer is full (EAGAIN): it tells when there is room.
        case socket
        /// A queue behind it is (ENOBUFS): nobody tells.
        case queue
    }

    /// Sends what it can, and counts it; nil when the rest is done.
    func send(_ rest: inout Rest, of datagram: UnsafeRawBufferPointer) -> Obstacle? {
        unsafe packet.pointee.iov_base = UnsafeMutableRawPointer(mutating: datagram.baseAddress)
        unsafe packet.pointee.iov_len = datagram.count
        let excluded = rest.except.flatMap { places[$0] }.map(Int.init) ?? -1
        var reports = 0
        while rest.owed > 0 {
            if rest.next >= rest.end, !rest.wrapAround() { break }
            if rest.next == excluded {
                rest.next += 1
                continue
            }
            let end = excluded > rest.next ? min(excluded, rest.end) : rest.end
            let batch = min(end - rest.next, rest.owed, messagesPerCall)
            let sent = unsafe Int(tenfour_sendmmsg(socket.fileDescriptor, messages + rest.next, UInt32(batch)))
            if sent > 0 {
                statistics.sent += sent
                rest.next += sent
                rest.owed -= sent
                reports = 0
                continue
            }
            switch Int32(-sent) {
            case EAGAIN: return .socket
            case ENOBUFS where rest.refused != rest.next:
                rest.refused = rest.next
                return .queue
            case ENOBUFS: statistics.dropped += 1
            case let code:
                // A report about an earlier datagram, to whomsoever, makes one call fail.
                if reports < 3, socket.takeErrorReports() > 0 {
                    reports += 1
                    continue
                }
                statistics.failed += 1
                socket.statistics.countFailure(code, to: endpoint(at: rest.next))
            }
            rest.next += 1
            rest.owed -= 1
            reports = 0
        }
        drop(rest)
        rest.owed = 0
        return nil
    }

    /// Counts what will not be sent any more.
    func drop(_ rest: Rest) { statistics.dropped += rest.owed }

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

/// What became of the packets of one `FanOut`. Of what was offered, all that is not waiting is sent, dropped or failed.
public struct FanOutStatistics: Equatable, Sendable {
    /// Packets times their listeners.
    public var offered = 0
    /// Taken by the kernel.
    public var sent = 0
    /// Had to give way to the next packet of their stream, as the kernel took no more, or found a queue full twice; or the
    /// listener had gone.
    public var dropped = 0
    /// Refused for their destination: `SocketStatistics.failures` says why.
    public var failed = 0

    public init() {}

    public static func + (left: Self, right: Self) -> Self {
        var sum = left
        sum.offered += right.offered
        sum.sent += right.sent
        sum.dropped += right.dropped
        sum.failed += right.failed
        return sum
    }
}

/// Nothing is gained beyond sixteen, as the kernel's work a datagram is most of it.
private let messagesPerCall = 64
