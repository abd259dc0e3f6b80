internal import TenfourPackets

/// Whether what a source sends can be Opus at all.
///
/// How a packet is coded stands in its first byte, which an encoder changes now and then. In what is encrypted that byte is
/// chance, and half of all packets still look like Opus: played, they are noise.
struct EncryptedPayloadDetector: Sendable {
    /// The first bytes of the last eight packets, without how they pack their frames: the newest in the lowest six bits.
    private var recent: UInt64 = 0
    private var count = 0
    /// Whether it was noticed that all is chance.
    private(set) var hasBeenDoubted = false

    private static let window = 8
    private static let bitCount = 6

    /// Takes in the next packet's. Returns whether it may be played: not while too many of the last are of different kinds.
    mutating func accepts(_ toc: OpusTOC) -> Bool {
        recent = recent << Self.bitCount | UInt64(toc.rawValue >> 2)
        count = min(count + 1, Self.window)
        return differentCount <= allowedCount
    }

    /// Whether a person is to be told: once, and when it is sure.
    mutating func isNewlyDoubted() -> Bool {
        guard !hasBeenDoubted, count == Self.window, differentCount > allowedCount else { return false }
        hasBeenDoubted = true
        return true
    }

    /// Of eight drawn by chance there are five different kinds or more in 999 cases of 1000; an encoder has two or three. The first
    /// three are the same: one lost at the start is not heard, and noise at full scale is. Where all was chance once, it makes
    /// such an eight every few seconds: there it takes seven that are the same.
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
