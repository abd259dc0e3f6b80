internal import TenfourAudioCore
internal import TenfourPackets

/// States how a member of a channel receives the talkers that its relay has asked about (Protocol/06-control.md, "Who
/// hears the talker"). It is the body of a HEARING record.
public struct HearingReport: Hashable, Sendable {
    /// Where the audio goes that the member receives.
    public var output: StationStatus.Output
    /// Whether something has changed or fails, so that the talkers should know at once.
    public var isUrgent = false
    /// The playouts of the talkers from which packets have arrived, at most eight.
    public var playouts: [StationStatus.Playout]

    public init(
        output: StationStatus.Output, isUrgent: Bool = false, playouts: [StationStatus.Playout] = []
    ) {
        self.output = output
        self.isUrgent = isUrgent
        self.playouts = playouts
    }

    private static let urgentBit: UInt8 = 0x80
    private static let outputMask: UInt8 = 0x03
    private static let headByteCount = 1

    /// Reads the body of a record; nil if it is malformed, or states an unknown kind of output.
    package init?(_ body: Span<UInt8>) {
        let playoutsByteCount = body.count - Self.headByteCount
        guard playoutsByteCount >= 0, playoutsByteCount % StationStatus.Playout.byteCount == 0,
            playoutsByteCount / StationStatus.Playout.byteCount <= HearingRequest.maximumTalkerCount,
            let output = StationStatus.Output(rawValue: body[0] & Self.outputMask)
        else { return nil }
        self.output = output
        isUrgent = body[0] & Self.urgentBit != 0
        playouts = stride(from: Self.headByteCount, to: body.count, by: StationStatus.Playout.byteCount).map {
            StationStatus.Playout(in: body, at: $0)
        }
    }

    /// Appends the body of the record, 1 to 65 bytes.
    package func write(into body: inout OutputSpan<UInt8>) {
        body.append((isUrgent ? Self.urgentBit : 0) | output.rawValue)
        for playout in playouts.prefix(HearingRequest.maximumTalkerCount) { playout.write(into: &body) }
    }
}
