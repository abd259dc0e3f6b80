internal import TenfourPackets

/// Detects payloads that cannot be Opus because they are encrypted.
///
/// The first byte of an Opus packet, the TOC, states how the packet is coded; an encoder changes it rarely. In an
/// encrypted packet this byte is random. Half of all encrypted packets still look like Opus, and would be played as
/// noise.
struct EncryptedPayloadDetector: Sendable {
    /// The TOCs of the last eight packets, the newest in the lowest six bits. Each TOC has six bits, without its frame
    /// count code.
    private var recent: UInt64 = 0
    private var count = 0
    /// Whether the TOCs of eight packets ever differed too much, so that the user was to be warned.
    private(set) var hasBeenDoubted = false
    private var hasBeenReported = false

    private static let window = 8
    private static let bitCount = 6

    /// Adds the TOC of the next packet. Returns false if this packet must not be played, because the TOCs of the last
    /// packets differ too much.
    mutating func accepts(_ toc: OpusTOC) -> Bool {
        recent = recent << Self.bitCount | UInt64(toc.rawValue >> 2)
        count = min(count + 1, Self.window)
        return differentCount <= allowedCount
    }

    /// Returns true once: at the first call after eight packets whose TOCs differ too much. The user must then be
    /// warned.
    mutating func isNewlyDoubted() -> Bool {
        guard !hasBeenDoubted, count == Self.window, differentCount > allowedCount else { return false }
        hasBeenDoubted = true
        defer { hasBeenReported = true }
        return !hasBeenReported
    }

    /// Forgets the packets so far, because another sender continues the source.
    mutating func restart() { (recent, count, hasBeenDoubted) = (0, 0, false) }

    /// The maximum number of different TOCs among the last packets (at most eight) with which the newest packet is
    /// played. Eight random TOCs contain five or more different ones in 999 of 1000 cases; an encoder uses two or
    /// three. The first three packets must have the same TOC: nobody hears that a packet is missing at the start, but
    /// everybody hears noise at full scale. Random TOCs pass this test every few seconds, so only two different ones
    /// are allowed after a failure.
    private var allowedCount: Int {
        if hasBeenDoubted { return 2 }
        return count < 4 ? 1 : (count + 1) / 2
    }

    private var differentCount: Int {
        var kinds: UInt64 = 0
        for place in 0..<count { kinds |= 1 << (recent >> (place * Self.bitCount) & 0x3F) }
        return kinds.nonzeroBitCount
    }
}
