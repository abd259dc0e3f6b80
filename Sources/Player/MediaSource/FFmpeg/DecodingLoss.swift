internal import TenfourAudioCore

/// Tells a part of a file that cannot be decoded from single damaged packets.
struct DecodingLoss {
    /// The number of undecodable packets in excess of decoded ones, in the present stretch.
    private var excess = 0
    private var begin = Duration.zero
    /// The largest excess so far, and the position at which its stretch began.
    private var worst = (excess: 0, begin: Duration.zero)

    /// The excess that counts as a missing part: about a second of AAC or MP3.
    private static let limit = 40

    mutating func count(isDamaged: Bool, at position: Duration) {
        if excess == 0 { begin = position }
        excess = max(excess + (isDamaged ? 1 : -1), 0)
        if excess > worst.excess { worst = (excess, begin) }
    }

    /// Describes the missing part as the beginning of a sentence; nil if no part is missing.
    var text: String? {
        guard worst.excess >= Self.limit else { return nil }
        let tenths = Int((worst.begin / .milliseconds(100)).rounded())
        return "a part that begins at \(tenths / 10).\(tenths % 10) s"
    }
}
