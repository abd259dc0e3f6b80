public import TenfourAudioCore
internal import TenfourPackets

/// The packets of a simulated talker. All have the same length and contain their number; each is sent when its audio
/// has ended.
public struct Speech: Sendable {
    /// The frames in a packet: a duration that Opus knows, 120 to 2880.
    public var frameCount: FrameCount
    /// The length of a packet, at least 5 bytes; 80 bytes every 20 ms are 32 kbit/s.
    public var byteCount: Int
    public var beginning: Instant
    /// The number of packets; nil for no end.
    public var count: Int?
    /// The deviation of the talker's clock in parts per million; above zero, the clock runs slow.
    public var partsPerMillion: Double
    /// Whether packet `n` is sent. A packet that is not sent is silence.
    public var isSpoken: @Sendable (Int) -> Bool
    /// Whether the packets have the length that results from the session's loss protection, which sets the encoder's
    /// bit rate.
    public var followsDefence = false
    /// The position of the first packet in the talker's stream.
    public var firstPosition: FrameCount

    private var number = 0
    private var wasSpoken = false

    public init(
        frameCount: FrameCount = FrameCount(960), byteCount: Int = 80, beginning: Instant = .start, count: Int? = nil,
        partsPerMillion: Double = 0, firstPosition: FrameCount = .zero,
        isSpoken: @escaping @Sendable (Int) -> Bool = { _ in true }
    ) {
        self.frameCount = frameCount
        self.byteCount = byteCount
        self.beginning = beginning
        self.count = count
        self.partsPerMillion = partsPerMillion
        self.firstPosition = firstPosition
        self.isSpoken = isSpoken
    }

    public struct Packet {
        public var number: Int
        public var position: FrameCount
        public var startsTalkspurt: Bool
        public var payload: [UInt8]
    }

    /// The time at which the next packet is sent; nil at the end.
    public var nextPacket: Instant? {
        if let count, number >= count { return nil }
        let frames = Double((number + 1) * frameCount.rawValue)
        return beginning + .nanoseconds(Int64((frames / 48e3 * (1 + partsPerMillion * 1e-6) * 1e9).rounded()))
    }

    /// Returns the next packet due at `now`; silent packets are skipped.
    public mutating func next(at now: Instant) -> Packet? {
        while let due = nextPacket, due <= now {
            defer { number += 1 }
            guard isSpoken(number) else {
                wasSpoken = false
                continue
            }
            defer { wasSpoken = true }
            return Packet(
                number: number, position: firstPosition + FrameCount(number * frameCount.rawValue),
                startsTalkspurt: !wasSpoken, payload: payload(number))
        }
        return nil
    }

    /// Returns an Opus packet of the right duration that contains a number instead of audio.
    private func payload(_ number: Int) -> [UInt8] {
        let configuration: UInt8 =
            switch frameCount.rawValue {
            case 120: 28
            case 240: 29
            case 480: 30
            case 960: 31
            case 1_920: 10
            case 2_880: 11
            default: preconditionFailure("no packet of Opus is \(frameCount.rawValue) frames long")
            }
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
        return [configuration << 3] + bytes + [UInt8](repeating: 0xAA, count: byteCount - 5)
    }

    /// The duration of a packet of `payload`.
    static func frameCount(of payload: Span<UInt8>) -> FrameCount? {
        try? OpusPacket(parsing: payload).frameCount
    }

    static func number(of payload: Span<UInt8>) -> Int {
        payload.count < 5 ? -1 : (1...4).reduce(0) { $0 << 8 | Int(payload[$1]) }
    }
}
