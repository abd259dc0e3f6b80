import TenfourAudioCore
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourPackets
import TenfourRelayCore
import TestSupport

/// A member that has joined with the control protocol.
struct TestMember {
    private let socket: Held
    private let port: UInt16
    private var sealer: RecordSealer
    private var opener: RecordOpener
    private var tagger: HopTagger
    private let root: MediaRoot
    private var receipt: UInt64 = 0
    private(set) var goodbye: Refusal.Reason?
    /// All control datagrams sent: HELLO, JOIN, the first renewal, and the later records.
    private(set) var said: [[UInt8]] = []

    private final class Held {
        let socket: PlainSocket

        init(_ host: UInt32) { socket = PlainSocket(at: host) }
    }

    struct NotLetIn: Error {}

    /// The relay refused the join for this reason.
    struct Refused: Error, Equatable {
        let reason: Refusal.Reason
    }

    /// `host` is the member's IPv4 address, one of the loopback network. `expected` and `identity` are those of a channel with
    /// an owner.
    init(
        _ role: Role, of keys: ChannelKeys, at port: UInt16, from host: UInt32 = 0x7F00_0001,
        expecting expected: ExpectedRelay? = nil, as identity: KeyShare? = nil
    ) throws {
        let held = Held(host)
        var generator = CSPRNG()
        guard let key = keys.joinKey(for: role) else { throw NotLetIn() }
        var joining = JoinAttempt(
            key, relay: RelayID(host: "127.0.0.1", port: port), expecting: expected, as: identity, using: &generator)
        socket = held
        self.port = port
        root = keys.mediaRoot
        var said: [[UInt8]] = []
        for _ in 0..<20 {
            said.append([UInt8](capacity: JoinAttempt.maximumByteCount) { joining.write(into: &$0) })
            held.socket.send(said[said.count - 1], toPort: port)
            guard let answer = held.socket.receive(within: 1_000) else { continue }
            let understood = joining.receive(answer.span)
            if case .refusal(let reason) = understood, reason != .unproved { throw Refused(reason: reason) }
            guard case .welcome(_, let session) = understood else { continue }
            sealer = session.sealer(for: .member)
            opener = session.opener(for: .member)
            tagger = session.hopTagger(for: .member)
            var reply: [UInt8]?
            // A flooded relay may lose a datagram.
            for _ in 0..<3 where reply == nil {
                said.append([UInt8](capacity: 128) { sealer.seal(.renewal(token: 1), into: &$0) })
                held.socket.send(said[said.count - 1], toPort: port)
                // Announcements of talkers may arrive first.
                reply = held.socket.receive(within: 5_000)
                while let other = reply, other.count != 82 { reply = held.socket.receive(within: 5_000) }
            }
            guard var renewed = reply else { throw NotLetIn() }
            var bytes = renewed.mutableSpan
            if case .renewed(_, let receipt, _)? = try? opener.open(&bytes) { self.receipt = receipt }
            self.said = said
            return
        }
        throw NotLetIn()
    }

    mutating func announce(_ ssrc: SSRC) {
        let announcement = Announcement(
            suite: .aesCounterMode, ssrc: ssrc, epoch: Epoch(rawValue: 1),
            index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0)), at: WallClock(milliseconds: 0),
            under: root)
        speak([UInt8](capacity: 80) { ControlPacket.write(announcement, into: &$0) })
    }

    mutating func leave() { say(.leave) }

    /// Renews the lease with the last receipt, if it has been received.
    mutating func renew() { say(.renewal(token: 1, receipt: receipt)) }

    mutating func say(_ record: Record) {
        said.append([UInt8](capacity: 128) { sealer.seal(record, into: &$0) })
        send(said[said.count - 1])
    }

    /// Sends a record of a channel with an owner.
    mutating func say(managed content: [UInt8]) {
        send([UInt8](capacity: content.count + 36) { sealer.seal(managed: content.span, into: &$0) })
    }

    /// Returns the next record of a channel with an owner, and skips all other datagrams. Returns nil after GOODBYE, or
    /// the timeout.
    mutating func nextManaged(within milliseconds: Int32 = 5_000) -> RelayRecord? {
        while var datagram = socket.socket.receive(within: milliseconds) {
            var bytes = datagram.mutableSpan
            switch try? opener.open(&bytes) {
            case .managed(let range): return try? RelayRecord(parsing: datagram.span.extracting(range))
            case .goodbye(let reason):
                goodbye = reason
                return nil
            default: break
            }
        }
        return nil
    }

    /// Whether a RENEWED comes. Skips all other datagrams.
    mutating func renewalIsAnswered(within milliseconds: Int32 = 5_000) -> Bool {
        while var datagram = socket.socket.receive(within: milliseconds) {
            var bytes = datagram.mutableSpan
            if case .renewed? = try? opener.open(&bytes) { return true }
        }
        return false
    }

    /// Takes all datagrams that have arrived, and returns their number.
    func takeAll() -> Int {
        var count = 0
        while socket.socket.receive(within: 0) != nil { count += 1 }
        return count
    }

    /// Sends the datagram unchanged from the member's socket.
    func send(_ datagram: [UInt8]) { socket.socket.send(datagram, toPort: port) }

    /// Sends the datagram with a hop tag.
    mutating func speak(_ datagram: [UInt8]) { send(tagged(datagram)) }

    mutating func tagged(_ datagram: [UInt8]) -> [UInt8] {
        [UInt8](capacity: datagram.count + HopTag.byteCount) {
            for byte in datagram { $0.append(byte) }
            _ = tagger.tag(&$0)
        }
    }

    /// Returns the next media packet and skips all other datagrams. Returns nil after the timeout.
    mutating func nextMedia(within milliseconds: Int32 = 5_000) -> [UInt8]? {
        while let next = heard(1, within: milliseconds).first { if next[0] == 0x80 { return next } }
        return nil
    }

    /// Returns the next datagrams except reports and renewal answers; fewer than `count` if they do not arrive in
    /// time.
    mutating func heard(_ count: Int, within milliseconds: Int32 = 5_000) -> [[UInt8]] {
        var datagrams: [[UInt8]] = []
        while datagrams.count < count, var datagram = socket.socket.receive(within: milliseconds) {
            if datagram[0] == ControlPacket.firstByte, datagram[2] == 6 {
                var bytes = datagram.mutableSpan
                let record = try? opener.open(&bytes)
                if case .report = record { continue }
                if case .renewed(_, let receipt, _) = record {
                    self.receipt = receipt
                    continue
                }
                if case .goodbye(let reason) = record { goodbye = reason }
            }
            datagrams.append(datagram)
        }
        return datagrams
    }
}
