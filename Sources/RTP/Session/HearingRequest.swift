internal import TenfourAudioCore
public import TenfourPackets

/// A relay's request to a member to state how it receives the talkers of the channel (Protocol/06-control.md, "Who hears
/// the talker"). It is the body of a HEARING REQUEST.
public struct HearingRequest: Hashable, Sendable {
    /// The talkers of the channel that transmit, at most eight; empty if nobody does, which ends the request.
    public var talkers: [SSRC]
    /// The time between two statements, in steps of 100 ms.
    public var interval: Duration
    /// The time after which the request is over, unless another one comes, in whole seconds.
    public var validity: Duration

    public init(talkers: [SSRC], interval: Duration = .seconds(1), validity: Duration = .seconds(10)) {
        self.talkers = talkers
        self.interval = interval
        self.validity = validity
    }

    /// The maximum number of `talkers`.
    public static let maximumTalkerCount = 8
    private static let step = Duration.milliseconds(100)
    private static let headByteCount = 2

    /// Reads the body of a record; nil if it is malformed.
    package init?(_ body: Span<UInt8>) {
        let talkersByteCount = body.count - Self.headByteCount
        guard talkersByteCount >= 0, talkersByteCount % 4 == 0, talkersByteCount / 4 <= Self.maximumTalkerCount,
            body[0] > 0
        else { return nil }
        interval = Self.step * Int(body[0])
        validity = .seconds(Int(body[1]))
        talkers = stride(from: Self.headByteCount, to: body.count, by: 4).map { SSRC(body.uint32(at: $0)) }
    }

    /// Appends the body of the record, 2 to 34 bytes.
    package func write(into body: inout OutputSpan<UInt8>) {
        body.append(UInt8(clamping: max(Int((interval / Self.step).rounded()), 1)))
        body.append(UInt8(clamping: Int(validity / .seconds(1))))
        for talker in talkers.prefix(Self.maximumTalkerCount) { body.append(bigEndian: talker.rawValue) }
    }
}
