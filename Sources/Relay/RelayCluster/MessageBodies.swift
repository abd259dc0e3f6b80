internal import TenfourChannelKeys
internal import TenfourPackets
internal import TenfourRelayCore

// The bodies of the messages, as in Protocol/09-cluster.md. The parsers accept any bytes.

/// A relay tells that it is present, which relays it has heard, and which channels have members there.
struct RelayPresence: Equatable {
    var nonce: UInt128
    var heard: [Heard] = []
    var tags: [UInt64] = []

    struct Heard: Equatable {
        var boot: BootID
        var nonce: UInt128
        /// The counter of its last PRESENCE, and the time since that came, in microseconds.
        var counter: UInt64
        var age: UInt32

        static let byteCount = 44
    }

    static let mostHeard = 64

    init(nonce: UInt128) { self.nonce = nonce }

    init?(parsing body: Span<UInt8>) {
        guard body.count >= 17, body[16] <= Self.mostHeard else { return nil }
        nonce = body.number(at: 0)
        let end = 17 + Heard.byteCount * Int(body[16])
        guard body.count >= end, (body.count - end) % 8 == 0 else { return nil }
        for offset in stride(from: 17, to: end, by: Heard.byteCount) {
            heard.append(
                Heard(
                    boot: BootID(rawValue: body.number(at: offset)), nonce: body.number(at: offset + 16),
                    counter: body.number(at: offset + 32), age: body.number(at: offset + 40)))
        }
        tags.reserveCapacity((body.count - end) / 8)
        for offset in stride(from: end, to: body.count, by: 8) { tags.append(body.number(at: offset)) }
    }

    var bytes: [UInt8] {
        [UInt8](capacity: 17 + Heard.byteCount * heard.count + 8 * tags.count) {
            $0.append(number: nonce)
            $0.append(UInt8(heard.count))
            for relay in heard {
                $0.append(number: relay.boot.rawValue)
                $0.append(number: relay.nonce)
                $0.append(number: relay.counter)
                $0.append(number: relay.age)
            }
            for tag in tags { $0.append(number: tag) }
        }
    }
}

/// A question for lost packets of a talker.
struct ClusterNACK: Equatable {
    var tag: UInt64
    var ssrc: SSRC
    var numbers: [SequenceNumber]

    private static let mostNumbers = 64

    init(tag: UInt64, ssrc: SSRC, numbers: [SequenceNumber]) {
        self.tag = tag
        self.ssrc = ssrc
        self.numbers = Array(numbers.prefix(Self.mostNumbers))
    }

    init?(parsing body: Span<UInt8>) {
        guard body.count >= 14, body.count <= 12 + 2 * Self.mostNumbers, body.count % 2 == 0 else { return nil }
        tag = body.number(at: 0)
        ssrc = SSRC(body.number(at: 8))
        numbers = []
        for offset in stride(from: 12, to: body.count, by: 2) {
            numbers.append(SequenceNumber(rawValue: body.number(at: offset)))
        }
    }

    var bytes: [UInt8] {
        [UInt8](capacity: 12 + 2 * numbers.count) {
            $0.append(number: tag)
            $0.append(number: ssrc.rawValue)
            for number in numbers { $0.append(number: number.rawValue) }
        }
    }
}

/// A report that sums up how the members of a relay receive a talker of another relay.
struct ClusterReport: Equatable {
    var tag: UInt64
    var ssrc: SSRC
    var summary: ListenersSummary

    init(tag: UInt64, ssrc: SSRC, summary: ListenersSummary) {
        self.tag = tag
        self.ssrc = ssrc
        self.summary = summary
    }

    init?(parsing body: Span<UInt8>) {
        guard body.count == 22, body[18] <= 1, body[19] == 0 else { return nil }
        tag = body.number(at: 0)
        ssrc = SSRC(body.number(at: 8))
        summary = ListenersSummary(
            lineCount: body.number(at: 12), fractionLost: body[16], redPayloadType: body[17],
            hasDeepConcealment: body[18] == 1, depth: body.number(at: 20))
    }

    var bytes: [UInt8] {
        [UInt8](capacity: 22) {
            $0.append(number: tag)
            $0.append(number: ssrc.rawValue)
            $0.append(number: summary.lineCount)
            $0.append(summary.fractionLost)
            $0.append(summary.redPayloadType)
            $0.append(summary.hasDeepConcealment ? 1 : 0)
            $0.append(0)
            $0.append(number: summary.depth)
        }
    }
}

extension ChannelState {
    /// Returns nil if the bytes are no state of a channel.
    init?(parsing body: Span<UInt8>) {
        guard body.count >= 5 else { return nil }
        self.init(unlistedCount: body.number(at: 0))
        var offset = 5
        for _ in 0..<body[4] {
            guard let claim = Claim(parsing: body, at: &offset) else { return nil }
            claims.append(claim)
        }
        guard let entries = try? Roster.Entry.all(parsing: body, from: offset, most: Roster.maximumListedCount) else {
            return nil
        }
        guard entries.allSatisfy({ $0.state != .gone }) else { return nil }
        self.entries = entries
    }

    var bytes: [UInt8] {
        let claims = claims.prefix(255)
        let room = 5 + claims.count * (73 + 255) + entries.count * Roster.Entry.maximumByteCount
        return [UInt8](capacity: room) {
            $0.append(number: unlistedCount)
            $0.append(UInt8(claims.count))
            for claim in claims { claim.write(into: &$0) }
            for entry in entries { entry.write(into: &$0) }
        }
    }
}

extension ChannelState.Claim {
    private static let shortByteCount = 73

    fileprivate init?(parsing body: Span<UInt8>, at offset: inout Int) {
        guard body.count >= offset + Self.shortByteCount else { return nil }
        let start = offset
        let end = start + Self.shortByteCount + Int(body[start + 72])
        guard body.count >= end else { return nil }
        let name = [UInt8](capacity: 255) { for index in start + Self.shortByteCount..<end { $0.append(body[index]) } }
        guard let name = String(validating: name, as: UTF8.self) else { return nil }
        let hasNone = body.isZero(in: start + 16..<start + 72)
        let announcement = [UInt8](capacity: 56) {
            if !hasNone { for index in start + 16..<start + 72 { $0.append(body[index]) } }
        }
        self.init(
            ssrc: SSRC(body.number(at: start)), milliseconds: body.number(at: start + 4),
            announcementAge: body.number(at: start + 12), announcement: announcement, name: name)
        // A talker could not take over a claim of the last possible time.
        guard milliseconds < 1 << 48 else { return nil }
        offset = end
    }

    fileprivate func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: ssrc.rawValue)
        bytes.append(number: milliseconds)
        bytes.append(number: announcementAge)
        if announcement.count == 56 { bytes.append(announcement.span) } else { bytes.append(zeros: 56) }
        let name = name.utf8.count <= 255 ? name : ""
        bytes.append(UInt8(name.utf8.count))
        for byte in name.utf8 { bytes.append(byte) }
    }
}
