package import TenfourAudioCore
package import TenfourPackets

/// Keeps the streams of payload types that nobody has named: recognises those of Opus, and says of which others the user
/// must be told.
///
/// A stream is a source at an IP address and one payload type. At most 64 are kept. Another one takes the place of a stream
/// with a single packet, or else of one that is silent, so a stream that sends keeps its place.
package struct UnnamedStreams: Sendable {
    private var streams: [Stream] = []

    /// A packet shows this of its stream, once for each stream.
    package enum Finding: Hashable, Sendable {
        /// The stream is Opus, and this packet is the first that is played.
        case opus
        /// The stream is not played, because its codec is not known.
        case unknown
    }

    fileprivate struct Stream {
        let ssrc: SSRC
        let payloadType: UInt8
        let address: IPAddress
        let firstPacket: Instant
        var lastPacket: Instant
        var count = 0
        /// The sequence number of the newest packet, and the time since which no number was missing.
        var newest: SequenceNumber
        var unbrokenSince: Instant
        var detector = OpusDetector()
        var isReported = false
    }

    /// The maximum number of streams that are kept.
    static let maximumCount = RTPSession.maximumSourceCount
    /// The time in which a stream can be recognised before it is reported as unknown.
    static let recognitionTime = Duration.milliseconds(900)
    /// The minimum number of packets of a stream that is reported.
    private static let minimumCount = 3
    /// The silence after which a full table may give the place of a stream to another one: the longest duration of a packet of
    /// Opus, or the pause after which a source loses its place.
    private static func silence(ofOpus isOpus: Bool) -> Duration {
        isOpus ? Source.longestPause : .milliseconds(120)
    }
    /// The dynamic payload types (RFC 3551 section 6).
    private static let dynamicTypes: ClosedRange<UInt8> = 96...127

    package init() {}

    /// Returns whether the packet is of a stream that was recognised as Opus. `payloadType` is that of the audio in it.
    package func isOpus(_ header: RTPHeader, _ payloadType: UInt8, from sender: Endpoint) -> Bool {
        index(of: header, payloadType, sender).map { streams[$0].detector.isOpus } ?? false
    }

    /// Inserts a packet of a payload type that is not accepted. `payload` is its audio, of `payloadType`. Only the streams of
    /// sources whose audio is not played meanwhile are reported as unknown: `isHeard` is whether the source has sent audio
    /// that is played. If `recognises` is false, the payload types were named, and no stream is taken for Opus.
    package mutating func insert(
        _ header: RTPHeader, _ payloadType: UInt8, _ payload: Span<UInt8>, from sender: Endpoint, isHeard: Bool,
        recognises: Bool, at now: Instant
    ) -> Finding? {
        guard let index = index(of: header, payloadType, sender) ?? add(header, payloadType, sender, at: now) else {
            return nil
        }
        streams[index].packetArrived(header, at: now)
        let isCandidate = recognises && Self.dynamicTypes.contains(payloadType)
        if isCandidate {
            streams[index].detector.insert(header, payload, at: now)
            if streams[index].detector.isOpus { return .opus }
            if streams[index].detector.mayBeOpus(at: now) { return nil }
        }
        // Events, comfort noise and empty packets (RFC 6263) accompany audio, and make no stream of their own.
        let accompanies =
            payload.isEmpty || payloadType == RTPDefaults.comfortNoisePayloadType
            || TelephoneEvent(parsing: payload) != nil
        guard !accompanies, streams[index].mayReport(isHeard: isHeard, waits: isCandidate, at: now) else { return nil }
        streams[index].isReported = true
        return .unknown
    }

    private func index(of header: RTPHeader, _ payloadType: UInt8, _ sender: Endpoint) -> Int? {
        streams.firstIndex {
            $0.ssrc == header.ssrc && $0.payloadType == payloadType && $0.address == sender.address
        }
    }

    /// Adds a stream. Returns nil if all streams are sending.
    private mutating func add(
        _ header: RTPHeader, _ payloadType: UInt8, _ sender: Endpoint, at now: Instant
    ) -> Int? {
        let stream = Stream(
            ssrc: header.ssrc, payloadType: payloadType, address: sender.address, firstPacket: now, lastPacket: now,
            newest: header.sequenceNumber, unbrokenSince: now)
        guard streams.count >= Self.maximumCount else {
            streams.append(stream)
            return streams.count - 1
        }
        let removable = streams.indices.filter {
            streams[$0].count == 1
                || now - streams[$0].lastPacket > Self.silence(ofOpus: streams[$0].detector.isOpus)
        }
        guard let index = removable.min(by: { streams[$0].lastPacket < streams[$1].lastPacket }) else { return nil }
        streams[index] = stream
        return index
    }
}

extension UnnamedStreams.Stream {
    fileprivate mutating func packetArrived(_ header: RTPHeader, at now: Instant) {
        count += count < .max ? 1 : 0
        lastPacket = now
        let step = header.sequenceNumber.distance(after: newest)
        if step > 1 || step < -UnnamedStreams.maximumCount { unbrokenSince = now }
        if step > 0 || step < -UnnamedStreams.maximumCount { newest = header.sequenceNumber }
    }

    /// Whether the stream is to be reported. The audio of a source that was heard has sequence numbers among those of the
    /// stream, unless it has ended.
    fileprivate func mayReport(isHeard: Bool, waits: Bool, at now: Instant) -> Bool {
        guard !isReported, count >= UnnamedStreams.minimumCount else { return false }
        let since = isHeard ? unbrokenSince : firstPacket
        return !waits && !isHeard || now - since >= UnnamedStreams.recognitionTime
    }
}
