internal import TenfourAudioCore

/// Tells a part of a file that cannot be decoded from single damaged packets.
struct DecodingLoss {
    /// The number of undecodable packets in excess of decoded ones, in the present stretch.
    private var excess = 0
    private var begin = Duration.zero
    /// The duration of the undecodable packets in the present stretch.
    private var length = Duration.zero
    /// The largest excess so far, and the position and the length of its stretch.
    private var worst = (excess: 0, begin: Duration.zero, length: Duration.zero)

    /// The excess that counts as a missing part: about a second of AAC or MP3.
    private static let limit = 40

    mutating func countDecoded() { excess = max(excess - 1, 0) }

    /// Counts a packet that lasts `duration`, zero if that is unknown.
    mutating func countDamaged(at position: Duration, lasting duration: Duration) {
        if excess == 0 { (begin, length) = (position, .zero) }
        excess += 1
        length += duration
        if excess > worst.excess { worst = (excess, begin, length) }
    }

    /// Describes the missing part as the beginning of a sentence; nil if no part is missing.
    var text: String? {
        guard worst.excess >= Self.limit else { return nil }
        let begin = MissingAudio.seconds(worst.begin)
        guard worst.length > .zero else { return "a part that begins at \(begin)" }
        return "a part of about \(MissingAudio.seconds(worst.length)) that begins at \(begin)"
    }
}
