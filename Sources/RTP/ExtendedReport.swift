/// What a report block has no room for: which packets were lost, how the stream sounds (RTCP packet type 207, RFC 3611).
public struct ExtendedReport: Hashable, Sendable {
    /// Who reports.
    public var sender: SSRC
    public var blocks: [Block]

    /// Those that this room reads; others are passed over.
    public enum Block: Hashable, Sendable {
        case lossRLE(LossRLE)
        case voipMetrics(VoIPMetrics)
    }

    public init(sender: SSRC, blocks: [Block]) {
        self.sender = sender
        self.blocks = blocks
    }

    /// On the wire, with its header.
    public var byteCount: Int { blocks.reduce(8) { $0 + $1.byteCount } }

    /// Appends `byteCount` bytes, for which `datagram` has room.
    public func write(into datagram: inout OutputSpan<UInt8>) {
        datagram.append(headerOf: RTCPHeader.extendedReport, count: 0, byteCount: byteCount)
        datagram.append(bigEndian: sender.rawValue)
        for block in blocks {
            switch block {
            case .lossRLE(let loss): loss.write(into: &datagram)
            case .voipMetrics(let metrics): metrics.write(into: &datagram)
            }
        }
    }
}

extension ExtendedReport.Block {
    fileprivate var byteCount: Int {
        switch self {
        case .lossRLE(let loss): loss.byteCount
        case .voipMetrics: VoIPMetrics.byteCount
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
            default: break
            }
            position += byteCount
        }
    }
}
