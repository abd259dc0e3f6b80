internal import TenfourAudioCore
public import TenfourPackets

/// States in each report, beyond RFC 3550, whether a station transmits, up to which packet, whether its output plays, when
/// its next report follows, and how much of each source's audio is missing in its playout. It is the data of an APP packet
/// named `STAT` (Protocol/02-rtcp.md).
public struct StationStatus: Hashable, Sendable {
    /// Whether the station has sent audio within the last second.
    public var isTransmitting = false
    public var output = Output.playing
    /// Whether the report is brief: it has no names and no details, and its blocks begin no new interval.
    package var isBrief = false
    /// Whether the report answers the BYE of a source: it says which of its packets have arrived, to the last.
    package var answersGoodbye = false
    /// The time until the station's next report, at most 25.5 s, in steps of 100 ms; nil if it promises none. A longer
    /// time is written as nil.
    public var nextReport: Duration?
    /// The sequence number of the last packet that the station has sent; nil if it has sent none, or does not state it.
    public var lastSent: SequenceNumber?
    /// The playouts of the sources that were heard in the last six seconds, at most seven.
    public var playouts: [Playout] = []

    /// Where the audio goes that the station receives.
    public enum Output: UInt8, Sendable {
        /// To an output that runs: a card, a file or a pipe.
        case playing
        /// To an output that the user has muted.
        case muted
        /// Nowhere: the station plays nothing, or its card is gone.
        case none
    }

    /// The playout of one source.
    public struct Playout: Hashable, Sendable {
        public var source: SSRC
        /// The proportion of the source's audio of the last 1.5 to 2 s that was due and not played: lost, late, or
        /// skipped by the card. 0…1, in steps of 1/255.
        public var missingShare: Double

        /// The highest sequence number that has arrived from the source. A report block states it, too, but only once.
        public var highestSequenceNumber: SequenceNumber

        public init(source: SSRC, missingShare: Double, highestSequenceNumber: SequenceNumber) {
            self.source = source
            self.missingShare = missingShare
            self.highestSequenceNumber = highestSequenceNumber
        }

        /// The length of a playout in a packet.
        static let byteCount = 8

        /// Reads the playout that begins at index `start`. `bytes` holds it whole.
        init(in bytes: Span<UInt8>, at start: Int) {
            source = SSRC(bytes.uint32(at: start))
            missingShare = Double(share: bytes[start + 4])
            highestSequenceNumber = SequenceNumber(rawValue: bytes.uint16(at: start + 6))
        }

        /// Appends the playout.
        func write(into bytes: inout OutputSpan<UInt8>) {
            bytes.append(bigEndian: source.rawValue)
            bytes.append(UInt8(share: missingShare))
            bytes.append(0)
            bytes.append(bigEndian: highestSequenceNumber.rawValue)
        }
    }

    /// The name of the APP packet, `STAT`.
    package static let packetName: UInt32 = 0x5354_4154
    /// The maximum number of `playouts`.
    public static let maximumPlayoutCount = 7
    private static let step = Duration.milliseconds(100)
    private static let transmittingBit: UInt8 = 0x80
    private static let briefBit: UInt8 = 0x40
    private static let lastSentBit: UInt8 = 0x20
    private static let answerBit: UInt8 = 0x10
    private static let outputMask: UInt8 = 0x03

    public init() {}

    /// Reads the data of an APP packet; nil if it is malformed or states an unknown kind of output.
    package init?(_ data: [UInt8]) {
        guard data.count >= 4, (data.count - 4) % Playout.byteCount == 0,
            let output = Output(rawValue: data[0] & Self.outputMask)
        else { return nil }
        isTransmitting = data[0] & Self.transmittingBit != 0
        isBrief = data[0] & Self.briefBit != 0
        self.output = output
        answersGoodbye = data[0] & Self.answerBit != 0
        if data[0] & Self.lastSentBit != 0 { lastSent = SequenceNumber(rawValue: data.span.uint16(at: 2)) }
        nextReport = data[1] > 0 ? Self.step * Int(data[1]) : nil
        playouts = stride(from: 4, to: data.count, by: Playout.byteCount).prefix(Self.maximumPlayoutCount).map {
            Playout(in: data.span, at: $0)
        }
    }

    /// The data of the APP packet, 4 to 60 bytes.
    package var data: [UInt8] {
        // A time that does not fit is no promise.
        let steps = nextReport.flatMap { UInt8(exactly: ($0 / Self.step).rounded(.up)) } ?? 0
        let playouts = playouts.prefix(Self.maximumPlayoutCount)
        return [UInt8](capacity: 4 + playouts.count * Playout.byteCount) { data in
            data.append(
                (isTransmitting ? Self.transmittingBit : 0) | (isBrief ? Self.briefBit : 0)
                    | (lastSent != nil ? Self.lastSentBit : 0) | (answersGoodbye ? Self.answerBit : 0) | output.rawValue
            )
            data.append(steps)
            data.append(bigEndian: lastSent?.rawValue ?? 0)
            for playout in playouts { playout.write(into: &data) }
        }
    }
}
