public import TenfourAudioCore
public import TenfourPackets

/// The packets of one or more past transmissions in playout order, ready to be decoded. Pauses are shortened.
///
/// Decode an `.audio` packet, conceal a `.lost` one, and play silence for `.silence`. At a packet that begins a
/// transmission, the decoder is to be reset: another talker may follow.
public struct TransmissionReplay: Sendable {
    public private(set) var packets: [Packet] = []
    /// The number of transmissions.
    public private(set) var transmissionCount = 0

    private let bytes: [UInt8]

    public struct Packet: Hashable, Sendable {
        public enum Content: Hashable, Sendable {
            /// The place of the payload, for `TransmissionReplay.payload(of:)`.
            case audio(Range<Int>)
            /// A packet that never arrived.
            case lost
            /// A pause of the talker, or between two transmissions.
            case silence
        }

        public var content: Content
        /// The duration: of a payload at most 120 ms, of `.lost` and `.silence` at most a second.
        public var frameCount: FrameCount
        public var ssrc: SSRC
        public var encoding: AudioEncoding
        public var startsTransmission: Bool
    }

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// The duration at normal speed.
    public var duration: Duration { packets.reduce(FrameCount.zero) { $0 + $1.frameCount }.duration() }

    /// Returns the payload of an `.audio` packet; empty for another.
    public func payload(of packet: Packet) -> ArraySlice<UInt8> {
        guard case .audio(let range) = packet.content else { return [] }
        return bytes[range]
    }

    /// Appends the packets of one transmission.
    mutating func append(_ sequencer: inout PacketSequencer<ReplayedPayload>, of ssrc: SSRC) {
        var pause = transmissionCount > 0 ? TransmissionHistory.separation : .zero
        var hasBegun = false
        while let next = sequencer.next(before: FrameCount(.max)) {
            let encoding = next.payload.encoding
            if next.lostCount == 0 { pause = min(pause + next.gap, longestPause(hasBegun)) }
            if next.payload.isSilent {
                // Packets that were lost in a pause are silence too.
                pause = min(pause + next.frameCount + (next.lostCount > 0 ? next.gap : .zero), longestPause(hasBegun))
                continue
            }
            if pause > .zero {
                packets.append(
                    Packet(
                        content: .silence, frameCount: pause, ssrc: ssrc, encoding: encoding, startsTransmission: false)
                )
                pause = .zero
            }
            if next.lostCount > 0, next.gap > .zero, hasBegun {
                packets.append(
                    Packet(
                        content: .lost, frameCount: next.gap, ssrc: ssrc, encoding: encoding, startsTransmission: false)
                )
            }
            packets.append(
                Packet(
                    content: .audio(next.payload.range), frameCount: next.frameCount, ssrc: ssrc, encoding: encoding,
                    startsTransmission: !hasBegun))
            hasBegun = true
        }
        if hasBegun { transmissionCount += 1 }
    }

    private func longestPause(_ hasBegun: Bool) -> FrameCount {
        hasBegun ? TransmissionHistory.longestPause : TransmissionHistory.separation
    }
}

/// The place of a payload in the bytes of a replay.
struct ReplayedPayload: Sendable {
    var range: Range<Int>
    var encoding: AudioEncoding
    /// Whether the packet only says that the talker is silent.
    var isSilent: Bool
}
