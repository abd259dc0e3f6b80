/// A range of a recording that was lost in transit, and was concealed or recovered.
public struct MarkedRange: Hashable, Sendable {
    /// The positions in the recording.
    public var range: Range<Duration>
    /// The fate of the packets of this range.
    public var kind: Kind

    /// The fate of lost packets.
    public enum Kind: Hashable, Sendable {
        /// Lost or late, and concealed or silent.
        case concealed
        /// Lost, and recovered from other packets.
        case recovered
    }

    public init(_ range: Range<Duration>, _ kind: Kind = .concealed) {
        self.range = range
        self.kind = kind
    }
}

extension MarkedRange {
    /// Divides a recording into `count` parts of duration `length`. Returns the proportion of each part that ranges of
    /// `kind` cover, 0…1.
    static func shares(of kind: Kind, in markedRanges: [MarkedRange], count: Int, length: Duration) -> [Double] {
        var shares = [Double](repeating: 0, count: count)
        guard length > .zero else { return shares }
        for markedRange in markedRanges where markedRange.kind == kind {
            let (start, end) = (markedRange.range.lowerBound / length, markedRange.range.upperBound / length)
            guard end > 0, start < Double(count) else { continue }
            for index in Int(max(start, 0))..<Int(min(end.rounded(.up), Double(count))) {
                shares[index] += max(min(end, Double(index + 1)) - max(start, Double(index)), 0)
            }
        }
        return shares.map { min($0, 1) }
    }
}
