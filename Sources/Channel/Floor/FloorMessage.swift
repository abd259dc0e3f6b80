public import TenfourPackets

/// A message about the floor, between a participant and the arbiter (Protocol/10-floor.md, in the words of 3GPP TS
/// 24.380 section 8.2).
///
/// `number` is the number of the participant's request, 1 or more. `answering` is the request number of the message that
/// is answered, or zero. Times are in milliseconds.
public enum FloorMessage: Hashable, Sendable {
    /// A participant requests the floor. `waits`: it would wait in the queue. `sends`: it sends media now, because this
    /// request was granted before.
    case request(number: UInt32, SSRC, FloorPriority, waits: Bool, sends: Bool)
    /// The arbiter grants the floor for `time`, zero if there is no bound. `mustAnswer`: the participant must show that
    /// it is still there.
    case granted(number: UInt32, SSRC, FloorPriority, FloorRevision, time: UInt32, mustAnswer: Bool)
    /// The SSRC has the floor.
    case taken(answering: UInt32, SSRC, FloorPriority, FloorRevision, time: UInt32, FloorConditions)
    /// The request is denied. The SSRC is the talker's, nil if nobody talks. `time`: a request may succeed after it,
    /// zero if that is unknown.
    case denied(number: UInt32, FloorDenial, talker: SSRC?, FloorPriority, FloorRevision, time: UInt32)
    /// A participant releases the floor, or takes its request back.
    case release(number: UInt32, SSRC)
    /// Nobody has the floor.
    case idle(answering: UInt32, FloorRevision, FloorConditions)
    /// The arbiter takes the floor back, or removes the request from the queue.
    case revoke(number: UInt32, SSRC, FloorRevocation, FloorRevision, time: UInt32)
    /// A participant asks for its position in the queue. With the number zero it asks who has the floor.
    case queuePositionRequest(number: UInt32, SSRC)
    /// The request is at `position`, 1…254, of `size` requests in the queue.
    case queuePosition(number: UInt32, talker: SSRC?, FloorPriority, FloorRevision, position: UInt8, size: UInt32)

    /// The length of every message, in bytes.
    public static let byteCount = 24
    /// The name of the RTCP packets of the type APP that carry the messages of a call, `FLOR` in ASCII (RFC 3550 section
    /// 6.7). Their subtype is zero, and their data is one message.
    public static let packetName: UInt32 = 0x464C_4F52

    private enum Code: UInt8 {
        case request = 0
        case granted = 1
        case taken = 2
        case denied = 3
        case release = 4
        case idle = 5
        case revoke = 6
        case queuePositionRequest = 8
        case queuePosition = 9
    }

    /// Parses a message. `bytes` holds nothing else.
    public init(parsing bytes: Span<UInt8>) throws(FloorParseError) {
        guard bytes.count == Self.byteCount else { throw .length(bytes.count) }
        guard bytes[0] == 1 else { throw .version(bytes[0]) }
        guard let code = Code(rawValue: bytes[1]) else { throw .message(bytes[1]) }
        guard let priority = FloorPriority(rawValue: bytes[2]) else { throw .value }
        try self.init(code, priority, Fields(parsing: bytes))
    }

    private init(_ code: Code, _ priority: FloorPriority, _ fields: Fields) throws(FloorParseError) {
        let talker = fields.ssrc == 0 ? nil : SSRC(fields.ssrc)
        let (detail, number, ssrc) = (fields.detail, fields.number, SSRC(fields.ssrc))
        switch code {
        case .request:
            try require(detail <= 3 && number > 0 && fields.time == 0 && fields.revision.isZero)
            self = .request(number: number, ssrc, priority, waits: detail & 1 != 0, sends: detail & 2 != 0)
        case .granted:
            try require(detail <= 1 && number > 0)
            self = .granted(
                number: number, ssrc, priority, fields.revision, time: fields.time, mustAnswer: detail != 0)
        case .taken:
            try require(detail <= 3)
            self = .taken(
                answering: number, ssrc, priority, fields.revision, time: fields.time, FloorConditions(rawValue: detail)
            )
        case .denied:
            guard let cause = FloorDenial(rawValue: detail) else { throw .value }
            try require(number > 0)
            self = .denied(number: number, cause, talker: talker, priority, fields.revision, time: fields.time)
        case .release:
            try require(detail == 0 && number > 0 && fields.time == 0 && fields.revision.isZero && priority == .normal)
            self = .release(number: number, ssrc)
        case .idle:
            let conditions = FloorConditions(rawValue: detail)
            try require(
                conditions.isSubset(of: .isRequired) && fields.time == 0 && fields.ssrc == 0 && priority == .normal)
            self = .idle(answering: number, fields.revision, conditions)
        case .revoke:
            guard let cause = FloorRevocation(rawValue: detail) else { throw .value }
            try require(number > 0 && priority == .normal)
            self = .revoke(number: number, ssrc, cause, fields.revision, time: fields.time)
        case .queuePositionRequest:
            try require(detail == 0 && fields.time == 0 && fields.revision.isZero && priority == .normal)
            self = .queuePositionRequest(number: number, ssrc)
        case .queuePosition:
            try require((1...254).contains(detail) && number > 0)
            self = .queuePosition(
                number: number, talker: talker, priority, fields.revision, position: detail, size: fields.time)
        }
    }

    /// Appends the message, which has `byteCount` bytes.
    public func write(into output: inout OutputSpan<UInt8>) {
        switch self {
        case .request(let number, let ssrc, let priority, let waits, let sends):
            let detail: UInt8 = (waits ? 1 : 0) | (sends ? 2 : 0)
            Fields(detail, number, ssrc).write(.request, priority, into: &output)
        case .granted(let number, let ssrc, let priority, let revision, let time, let mustAnswer):
            Fields(mustAnswer ? 1 : 0, number, ssrc, revision, time).write(.granted, priority, into: &output)
        case .taken(let number, let ssrc, let priority, let revision, let time, let conditions):
            Fields(conditions.rawValue, number, ssrc, revision, time).write(.taken, priority, into: &output)
        case .denied(let number, let cause, let talker, let priority, let revision, let time):
            Fields(cause.rawValue, number, talker, revision, time).write(.denied, priority, into: &output)
        case .release(let number, let ssrc): Fields(0, number, ssrc).write(.release, .normal, into: &output)
        case .idle(let number, let revision, let conditions):
            Fields(conditions.rawValue, number, nil, revision).write(.idle, .normal, into: &output)
        case .revoke(let number, let ssrc, let cause, let revision, let time):
            Fields(cause.rawValue, number, ssrc, revision, time).write(.revoke, .normal, into: &output)
        case .queuePositionRequest(let number, let ssrc):
            Fields(0, number, ssrc).write(.queuePositionRequest, .normal, into: &output)
        case .queuePosition(let number, let talker, let priority, let revision, let position, let size):
            Fields(position, number, talker, revision, size).write(.queuePosition, priority, into: &output)
        }
    }

    /// The SSRC of the participant that sends the message; nil for a message of the arbiter.
    public var ssrc: SSRC? {
        switch self {
        case .request(_, let ssrc, _, _, _), .release(_, let ssrc), .queuePositionRequest(_, let ssrc): ssrc
        case .granted, .taken, .denied, .idle, .revoke, .queuePosition: nil
        }
    }

    /// Whether participants send the message, and not the arbiter.
    public var isFromParticipant: Bool { ssrc != nil }

    /// The fields behind the message's code and priority.
    private struct Fields {
        var detail: UInt8
        var number: UInt32
        var ssrc: UInt32
        var revision: FloorRevision
        var time: UInt32

        init(
            _ detail: UInt8, _ number: UInt32, _ ssrc: SSRC?, _ revision: FloorRevision = FloorRevision(),
            _ time: UInt32 = 0
        ) {
            self.detail = detail
            self.number = number
            self.ssrc = ssrc?.rawValue ?? 0
            self.revision = revision
            self.time = time
        }

        init(parsing bytes: Span<UInt8>) {
            detail = bytes[3]
            number = bytes.uint32(at: 4)
            ssrc = bytes.uint32(at: 8)
            revision = FloorRevision(term: bytes.uint32(at: 12), state: bytes.uint32(at: 16))
            time = bytes.uint32(at: 20)
        }

        func write(_ code: Code, _ priority: FloorPriority, into output: inout OutputSpan<UInt8>) {
            output.append(1)
            output.append(code.rawValue)
            output.append(priority.rawValue)
            output.append(detail)
            for number in [number, ssrc, revision.term, revision.state, time] { output.append(bigEndian: number) }
        }
    }
}

private func require(_ condition: Bool) throws(FloorParseError) {
    guard condition else { throw .value }
}

/// The reason why bytes are not a message about the floor.
public enum FloorParseError: Error, Hashable, Sendable {
    case length(Int)
    case version(UInt8)
    /// There is no message of this number.
    case message(UInt8)
    /// A field has a value that it cannot have.
    case value
}
