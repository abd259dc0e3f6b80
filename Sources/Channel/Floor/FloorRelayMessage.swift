internal import TenfourPackets

/// A message about a channel's floor between two relays of a cluster: the body of FLOOR (Protocol/10-floor.md).
public struct FloorRelayMessage: Hashable, Sendable {
    public enum Content: Hashable, Sendable {
        /// The sender arbitrates for the channel.
        case claim
        /// A member of the sending relay has sent this to the leader. Members are numbered from 1.
        case fromMember(UInt32, FloorMessage)
        /// The leader sends this to a member of the receiving relay.
        case toMember(UInt32, FloorMessage)
        /// The leader sends this to all members.
        case toAll(FloorMessage)
    }

    /// The term of the leader that sends the message, or to which it is sent.
    public var term: UInt32
    /// The tag of the channel (Protocol/09-cluster.md).
    public var channel: UInt64
    public var content: Content

    public init(term: UInt32, channel: UInt64, _ content: Content) {
        self.term = term
        self.channel = channel
        self.content = content
    }

    /// Whether the message is sent to all relays that have members of the channel, and not to one relay.
    public var isForAllRelays: Bool {
        switch content {
        case .claim, .toAll: true
        case .fromMember, .toMember: false
        }
    }

    /// The length of a claim in bytes, and of what is before the message in the others.
    static let headByteCount = 20
    /// The length of the longest body, in bytes.
    public static let maximumByteCount = headByteCount + FloorMessage.byteCount

    /// Parses a body. `bytes` holds nothing else.
    public init(parsing bytes: Span<UInt8>) throws(FloorParseError) {
        guard bytes.count == Self.headByteCount || bytes.count == Self.maximumByteCount else {
            throw .length(bytes.count)
        }
        guard bytes[1] == 0, bytes[2] == 0, bytes[3] == 0 else { throw .value }
        term = bytes.uint32(at: 4)
        channel = UInt64(bytes.uint32(at: 8)) << 32 | UInt64(bytes.uint32(at: 12))
        let member = bytes.uint32(at: 16)
        if bytes.count == Self.headByteCount {
            guard bytes[0] == 0 else { throw .length(bytes.count) }
            guard member == 0, term > 0 else { throw .value }
            content = .claim
            return
        }
        let message = try FloorMessage(parsing: bytes.extracting(Self.headByteCount...))
        switch (bytes[0], member > 0, message.isFromParticipant) {
        case (0, _, _): throw .length(bytes.count)
        case (1, true, true): content = .fromMember(member, message)
        case (2, true, false): content = .toMember(member, message)
        case (3, false, false): content = .toAll(message)
        case (1...3, _, _): throw .value
        default: throw .message(bytes[0])
        }
    }

    /// Appends the body, which has at most `maximumByteCount` bytes.
    public func write(into output: inout OutputSpan<UInt8>) {
        let (type, member, message): (UInt8, UInt32, FloorMessage?) =
            switch content {
            case .claim: (0, 0, nil)
            case .fromMember(let member, let message): (1, member, message)
            case .toMember(let member, let message): (2, member, message)
            case .toAll(let message): (3, 0, message)
            }
        output.append(type)
        output.append(repeating: 0, count: 3)
        output.append(bigEndian: term)
        output.append(bigEndian: UInt32(channel >> 32))
        output.append(bigEndian: UInt32(truncatingIfNeeded: channel))
        output.append(bigEndian: member)
        message?.write(into: &output)
    }
}
