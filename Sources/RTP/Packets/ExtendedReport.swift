/// An extended report: losses, the quality of a stream, and clocks (RTCP packet type 207, RFC 3611).
public struct ExtendedReport: Hashable, Sendable {
    /// The SSRC of the reporter.
    public var sender: SSRC
    public var blocks: [Block]

    /// The block types that this module reads; others are skipped.
    public enum Block: Hashable, Sendable {
        case lossRLE(LossRLE)
        case voipMetrics(VoIPMetrics)
        /// The reporter's wall clock, which the receiver returns in an echo (section 4.4, RRTR).
        case referenceTime(NTPTime)
        /// Reference times that the reporter received, returned to their senders (section 4.5, DLRR).
        case echoes([TimeEcho])
    }

    public init(sender: SSRC, blocks: [Block]) {
        self.sender = sender
        self.blocks = blocks
    }

    /// The length on the wire in bytes, with the header.
    public var byteCount: Int { blocks.reduce(8) { $0 + $1.byteCount } }

    /// Appends the packet, which has `byteCount` bytes; `datagram` must have space for them.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(headerOf: RTCPHeader.extendedReport, count: 0, byteCount: byteCount)
        datagram.append(bigEndian: sender.rawValue)
        for block in blocks {
            switch block {
            case .lossRLE(let loss): loss.write(into: &datagram)
            case .voipMetrics(let metrics): metrics.write(into: &datagram)
            case .referenceTime(let time):
                Self.appendHeader(of: Self.referenceTimeType, byteCount: block.byteCount, to: &datagram)
                datagram.append(bigEndian: UInt32(truncatingIfNeeded: time.rawValue >> 32))
                datagram.append(bigEndian: UInt32(truncatingIfNeeded: time.rawValue))
            case .echoes(let echoes):
                Self.appendHeader(of: Self.echoesType, byteCount: block.byteCount, to: &datagram)
                for echo in echoes { echo.write(into: &datagram) }
            }
        }
    }

    fileprivate static let referenceTimeType: UInt8 = 4
    fileprivate static let echoesType: UInt8 = 5

    private static func appendHeader(of type: UInt8, byteCount: Int, to datagram: inout OutputSpan<UInt8>) {
        datagram.append(type)
        datagram.append(0)
        datagram.append(bigEndian: UInt16(byteCount / 4 - 1))
    }
}

extension ExtendedReport.Block {
    fileprivate var byteCount: Int {
        switch self {
        case .lossRLE(let loss): loss.byteCount
        case .voipMetrics: VoIPMetrics.byteCount
        case .referenceTime: 12
        case .echoes(let echoes): 4 + echoes.count * TimeEcho.byteCount
        }
    }
}

extension ExtendedReport {
    init(parsing datagram: Span<UInt8>, _ header: RTCPHeader) throws(RTCPParseError) {
        guard header.body.count >= 4 else { throw header.tooShort }
        sender = SSRC(datagram.uint32(at: header.body.lowerBound))
        blocks = []
        var position = header.body.lowerBound + 4
        while position < header.body.upperBound {
            guard position + 4 <= header.body.upperBound else { throw header.tooShort }
            let byteCount = 4 + 4 * Int(datagram.uint16(at: position + 2))
            guard position + byteCount <= header.body.upperBound else { throw header.tooShort }
            switch datagram[position] {
            case LossRLE.blockType:
                guard let loss = LossRLE(parsing: datagram, at: position, byteCount: byteCount) else {
                    throw header.tooShort
                }
                blocks.append(.lossRLE(loss))
            case VoIPMetrics.blockType:
                guard byteCount == VoIPMetrics.byteCount else { throw header.tooShort }
                blocks.append(.voipMetrics(VoIPMetrics(parsing: datagram, at: position)))
            case Self.referenceTimeType:
                guard byteCount == 12 else { throw header.tooShort }
                let seconds = UInt64(datagram.uint32(at: position + 4))
                blocks.append(
                    .referenceTime(NTPTime(rawValue: seconds << 32 | UInt64(datagram.uint32(at: position + 8)))))
            case Self.echoesType:
                guard (byteCount - 4).isMultiple(of: TimeEcho.byteCount) else { throw header.tooShort }
                let places = stride(from: position + 4, to: position + byteCount, by: TimeEcho.byteCount)
                blocks.append(.echoes(places.map { TimeEcho(parsing: datagram, at: $0) }))
            default: break
            }
            position += byteCount
        }
    }
}
