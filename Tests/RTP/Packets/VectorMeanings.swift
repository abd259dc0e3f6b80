import TenfourAudioCore
import TenfourPackets

// What the vectors' JSON says, and the same of what was read.

struct Slice: Decodable, Equatable {
    var offset: Int
    var byteCount: Int
}

struct RTPMeaning: Decodable, Equatable {
    var marker: Bool
    var payloadType: UInt8
    var sequenceNumber: UInt16
    var timestamp: UInt32
    var ssrc: UInt32
    var payload: Slice

    init(_ header: RTPHeader) {
        marker = header.marker
        payloadType = header.payloadType
        sequenceNumber = header.sequenceNumber.rawValue
        timestamp = header.timestamp.rawValue
        ssrc = header.ssrc.rawValue
        payload = Slice(offset: header.payload.lowerBound, byteCount: header.payload.count)
    }
}

/// A block of redundant coding within an RTP payload.
struct REDMeaning: Decodable, Equatable {
    var payloadType: UInt8
    var age: Int
    /// From the beginning of the file.
    var offset: Int
    var byteCount: Int

    static func all(_ payload: RedundantPayload, at start: Int) -> [Self] {
        (0..<payload.count).map { index in
            let block = payload[index]
            return Self(
                payloadType: block.payloadType, age: block.age.rawValue, offset: start + block.offset,
                byteCount: block.byteCount)
        }
    }
}

struct RTCPMeaning: Decodable, Equatable {
    struct Block: Decodable, Equatable {
        var ssrc: UInt32
        var fractionLost: UInt8
        var cumulativeLost: Int
        var extendedHighestSequenceNumber: UInt32
        var jitter: Int
        /// Zero for none.
        var lastSenderReport: UInt32
        /// In 1/65536 s.
        var delaySinceLastSenderReport: Int64
    }

    struct Chunk: Decodable, Equatable {
        struct Item: Decodable, Equatable {
            var kind: UInt8
            var text: String
        }

        var ssrc: UInt32
        var items: [Item]
    }

    struct Extended: Decodable, Equatable {
        var kind: String
        var source: UInt32?
        var ntpSeconds: UInt64?
        var ntpFraction: UInt64?
        var echoes: [Echo]?
        var first: UInt16?
        var end: UInt16?
        /// Of each packet: came, or was lost.
        var pattern: String?
        var lossRate: UInt8?
        var discardRate: UInt8?
        var burstDensity: UInt8?
        var gapDensity: UInt8?
        /// In milliseconds.
        var burstDuration: Int?
        var gapDuration: Int?
        var roundTrip: Int?
        var endSystemDelay: Int?
        var minimumGap: UInt8?
        var nominalDepth: Int?
        var maximumDepth: Int?

        struct Echo: Decodable, Equatable {
            var teller: UInt32
            var time: UInt32
            /// In 1/65536 s.
            var delay: Int64
        }
    }

    var type: String
    var ssrc: UInt32?
    var media: UInt32?
    var sequenceNumbers: [UInt16]?
    var details: [Extended]?
    var ntpSeconds: UInt64?
    var ntpFraction: UInt64?
    var timestamp: UInt32?
    var packetCount: UInt32?
    var octetCount: UInt32?
    var blocks: [Block]?
    var chunks: [Chunk]?
    var sources: [UInt32]?
    var reason: String?
    var number: UInt8?
    var count: Int?
    var offset: Int?
    var byteCount: Int?

    init(_ packet: RTCPPacket) {
        switch packet {
        case .senderReport(let report):
            type = "SR"
            ssrc = report.ssrc.rawValue
            ntpSeconds = report.time.rawValue >> 32
            ntpFraction = report.time.rawValue & 0xFFFF_FFFF
            timestamp = report.timestamp.rawValue
            packetCount = report.packetCount
            octetCount = report.octetCount
            blocks = report.blocks.map(Block.init)
        case .receiverReport(let report):
            type = "RR"
            ssrc = report.ssrc.rawValue
            blocks = report.blocks.map(Block.init)
        case .sourceDescription(let description):
            type = "SDES"
            chunks = description.chunks.map { chunk in
                Chunk(
                    ssrc: chunk.ssrc.rawValue, items: chunk.items.map { .init(kind: $0.kind.rawValue, text: $0.text) })
            }
        case .goodbye(let goodbye):
            type = "BYE"
            sources = goodbye.sources.map(\.rawValue)
            reason = goodbye.reason
        case .genericNACK(let nack):
            type = "NACK"
            ssrc = nack.sender.rawValue
            media = nack.media.rawValue
            sequenceNumbers = nack.sequenceNumbers.map(\.rawValue)
        case .extendedReport(let report):
            type = "XR"
            ssrc = report.sender.rawValue
            details = report.blocks.map(Extended.init)
        case .unknown(let unknown):
            type = "unknown"
            number = unknown.type
            count = unknown.count
            offset = unknown.body.lowerBound
            byteCount = unknown.body.count
        }
    }
}

extension RTCPMeaning.Extended {
    init(_ block: ExtendedReport.Block) {
        switch block {
        case .lossRLE(let loss):
            kind = "lossRLE"
            source = loss.source.rawValue
            first = loss.first.rawValue
            end = loss.end.rawValue
            var pattern = ""
            loss.forEachRun { came, length in pattern += String(repeating: came ? "1" : "0", count: length) }
            self.pattern = pattern
        case .voipMetrics(let metrics):
            func milliseconds(_ duration: Duration) -> Int { Int(duration / .milliseconds(1)) }
            kind = "VoIP"
            source = metrics.source.rawValue
            (lossRate, discardRate) = (metrics.lossRate, metrics.discardRate)
            (burstDensity, gapDensity) = (metrics.burstDensity, metrics.gapDensity)
            (burstDuration, gapDuration) = (milliseconds(metrics.burstDuration), milliseconds(metrics.gapDuration))
            (roundTrip, endSystemDelay) = (milliseconds(metrics.roundTrip), milliseconds(metrics.endSystemDelay))
            minimumGap = metrics.minimumGap
            (nominalDepth, maximumDepth) = (milliseconds(metrics.nominalDelay), milliseconds(metrics.maximumDelay))
        case .referenceTime(let time):
            kind = "referenceTime"
            (ntpSeconds, ntpFraction) = (time.rawValue >> 32, time.rawValue & 0xFFFF_FFFF)
        case .echoes(let echoes):
            kind = "echoes"
            self.echoes = echoes.map {
                Echo(teller: $0.teller.rawValue, time: $0.time.rawValue, delay: short($0.delay))
            }
        }
    }
}

extension RTCPMeaning.Block {
    init(_ block: ReportBlock) {
        ssrc = block.ssrc.rawValue
        fractionLost = block.fractionLost
        cumulativeLost = block.cumulativeLost
        extendedHighestSequenceNumber = block.extendedHighestSequenceNumber
        jitter = block.jitter.rawValue
        lastSenderReport = block.lastSenderReport?.rawValue ?? 0
        delaySinceLastSenderReport = short(block.delaySinceLastSenderReport)
    }
}

/// In 1/65536 s.
private func short(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 65_536 + attoseconds / 15_258_789_062_500
}

struct OpusMeaning: Decodable, Equatable {
    var configuration: UInt8
    var mode: String
    var bandwidth: Int
    var stereo: Bool
    /// Of each Opus frame.
    var frameCount: Int
    var padding: Int
    var frames: [Slice]

    init(_ packet: OpusPacket) {
        configuration = packet.toc.configuration
        mode = packet.toc.mode.caseName
        bandwidth = packet.toc.bandwidth.rawValue
        stereo = packet.toc.isStereo
        frameCount = packet.toc.frameCount.rawValue
        padding = packet.paddingByteCount
        frames = (0..<packet.count).map { Slice(offset: packet[$0].offset, byteCount: packet[$0].byteCount) }
    }
}

struct SDPMeaning: Decodable, Equatable {
    struct Format: Decodable, Equatable {
        var payloadType: UInt8
        var encoding: String?
        var clockRate: Int?
        var channelCount: Int?
        var parameters: String?
    }

    var username: String
    var sessionID: UInt64
    var version: UInt64
    var originAddress: String
    var name: String
    var address: String
    var timeToLive: UInt8?
    var port: UInt16
    var profile: String
    var formats: [Format]
    /// In milliseconds.
    var packetTime: Int?
    var maximumPacketTime: Int?
    var rtcpPort: UInt16?
    var multiplexesRTCP: Bool
    var direction: String
    var feedback: [String]?

    init(_ description: SessionDescription) {
        username = description.origin.username
        sessionID = description.origin.sessionID
        version = description.origin.version
        originAddress = description.origin.address.address
        name = description.name
        address = description.connection.address
        timeToLive = description.connection.timeToLive
        port = description.port
        profile = description.profile.rawValue
        formats = description.formats.map {
            Format(
                payloadType: $0.payloadType, encoding: $0.encoding?.name, clockRate: $0.encoding?.clockRate,
                channelCount: $0.encoding?.channelCount, parameters: $0.parameters)
        }
        packetTime = description.packetTime.map { Int($0 / .milliseconds(1)) }
        maximumPacketTime = description.maximumPacketTime.map { Int($0 / .milliseconds(1)) }
        rtcpPort = description.rtcpPort
        multiplexesRTCP = description.multiplexesRTCP
        direction = description.direction.rawValue
        feedback =
            description.feedback.isEmpty
            ? nil : description.feedback.map { "\($0.payloadType.map { String($0) } ?? "*") \($0.kind)" }
    }
}
