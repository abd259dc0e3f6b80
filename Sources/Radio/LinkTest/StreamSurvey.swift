public import TenfourAudioCore
public import TenfourPackets
public import TenfourSession

/// An RTP stream, by its SSRC and its destination, with counts of its packets.
public struct RTPStream: Hashable, Sendable {
    public var ssrc: SSRC
    public var destination: Endpoint
    /// The most frequent payload type of the stream's packets; for a packet with copies, the type of its primary
    /// payload.
    public var payloadType: UInt8
    /// The payload type of packets that contain copies of earlier packets (RED, RFC 2198); nil if there are no such
    /// packets.
    public var redPayloadType: UInt8?
    public var packetCount: Int
    /// The number of packets of `payloadType` whose payload parses as a packet of its encoding.
    public var readableCount: Int
    /// The number of packets without a marker whose sequence number directly follows the sequence number of a packet
    /// with the same encoding. Such packets are called followers.
    var followers: Int
    /// The number of followers whose timestamp exceeds the timestamp of the preceding packet by the duration of the
    /// preceding packet, to less than 2.5 ms. `followers` is the number of all followers.
    var consistentFollowers: Int
    /// The number of followers of the same kind on a clock of 8, 12, 16 or 24 kHz, which some senders of Opus use.
    var slowFollowers: Int
    /// The number of packets of `payloadType`; `packetCount` includes others, such as telephone events.
    var mainCount: Int

    /// The encoding that the stream appears to have: Opus (RFC 7587) or G.711 (RFC 3551); nil for any other. Nearly any
    /// bytes parse as a packet of either encoding, but only with the right one do the timestamps advance by the
    /// duration of each packet.
    public var encoding: AudioEncoding? {
        guard let encoding = AudioEncoding.assumedPayloadTypes[payloadType],
            readableCount * 10 >= mainCount * 9, max(consistentFollowers, slowFollowers) * 2 >= followers
        else { return nil }
        return encoding
    }
}

/// The RTP streams in a log of datagrams, the stream with the most packets first.
public struct StreamSurvey: Sendable {
    public let streams: [RTPStream]

    public init(_ log: DatagramLog) {
        var tallies: [Key: StreamTally] = [:]
        var order: [Key] = []
        for entry in log.entries {
            let datagram = log.datagram(entry)
            guard datagram.count >= 2, !RTCPCompound.isRTCP(secondByte: datagram[1]),
                let header = try? RTPHeader(parsing: datagram)
            else { continue }
            let key = Key(ssrc: header.ssrc, destination: entry.destination)
            if tallies[key] == nil { order.append(key) }
            tallies[key, default: StreamTally()].append(header, datagram.extracting(header.payload))
        }
        streams = order.compactMap { key in tallies[key].map { $0.stream(key) } }
            .sorted { $0.packetCount > $1.packetCount }
    }

    private struct Key: Hashable {
        var ssrc: SSRC
        var destination: Endpoint
    }

    /// The counts of one stream while the log is read.
    private struct StreamTally {
        private var packetCounts: [UInt8: Int] = [:]
        private var readableCounts: [UInt8: Int] = [:]
        private var redPayloadType: UInt8?
        private var followers = 0
        private var consistentFollowers = 0
        /// The numbers of followers on a clock that is 2, 3, 4 and 6 times too slow.
        private var slowFollowers = [2: 0, 3: 0, 4: 0, 6: 0]
        private var last: (header: RTPHeader, encoding: AudioEncoding, frameCount: FrameCount)?

        mutating func append(_ header: RTPHeader, _ payload: Span<UInt8>) {
            var type = header.payloadType
            var primary = 0..<payload.count
            if let redundant = Self.redundant(payload, header) {
                redPayloadType = type
                type = redundant.primary.payloadType
                primary = redundant.primary.offset..<payload.count
            }
            packetCounts[type, default: 0] += 1
            let encoding = AudioEncoding.assumedPayloadTypes[type] ?? .opus
            guard let frameCount = encoding.frameCount(of: payload.extracting(primary)) else { return }
            readableCounts[type, default: 0] += 1
            defer { last = (header, encoding, frameCount) }
            // Counts only a packet without a marker that directly follows a packet of the same encoding. A marker means
            // a pause of unknown length, and another encoding may begin with another timestamp.
            guard let last, !header.marker, encoding == last.encoding,
                header.sequenceNumber.distance(after: last.header.sequenceNumber) == 1
            else { return }
            followers += 1
            let ticks = header.timestamp.distance(after: last.header.timestamp).rawValue
            let (frames, expected) = (ticks * encoding.framesPerTick, last.frameCount.rawValue)
            if abs(frames - expected) < min(120, expected / 2) { consistentFollowers += 1 }
            for factor in slowFollowers.keys where encoding == .opus && frames * factor == expected {
                slowFollowers[factor, default: 0] += 1
            }
        }

        /// Parses a redundant payload; nil if `payload` does not look redundant. Nearly any bytes parse as a redundant
        /// payload with a single block, so copies of the same payload type are required.
        private static func redundant(_ payload: Span<UInt8>, _ header: RTPHeader) -> RedundantPayload? {
            guard let redundant = try? RedundantPayload(parsing: payload), redundant.count > 1,
                redundant.primary.payloadType != header.payloadType, redundant.primary.payloadType >= 96,
                (0..<redundant.count - 1).allSatisfy({
                    redundant[$0].payloadType == redundant.primary.payloadType && redundant[$0].age.rawValue % 120 == 0
                })
            else { return nil }
            return redundant
        }

        func stream(_ key: Key) -> RTPStream {
            let packetCount = packetCounts.values.reduce(0, +)
            let type = packetCounts.max { ($0.value, $1.key) < ($1.value, $0.key) }?.key ?? 0
            return RTPStream(
                ssrc: key.ssrc, destination: key.destination, payloadType: type, redPayloadType: redPayloadType,
                packetCount: packetCount, readableCount: readableCounts[type] ?? 0, followers: followers,
                consistentFollowers: consistentFollowers, slowFollowers: slowFollowers.values.max() ?? 0,
                mainCount: packetCounts[type] ?? 0)
        }
    }
}
