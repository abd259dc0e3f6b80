/// A stretch of a sound that did not come as it was sent.
public struct MarkedRange: Hashable, Sendable {
    public var range: Range<Duration>
    public var kind: Kind

    public enum Kind: Hashable, Sendable {
        /// Lost or late, and made up or silent.
        case concealed
        /// Lost, and brought back.
        case recovered
    }

    public init(_ range: Range<Duration>, _ kind: Kind = .concealed) {
        self.range = range
        self.kind = kind
    }
}

extension MarkedRange {
    /// How much of each of `count` parts, `length` long each, is of one kind: 0…1.
    static func shares(of kind: Kind, in stretches: [MarkedRange], count: Int, length: Duration) -> [Double] {
        var shares = [Double](repeating: 0, count: count)
        guard length > .zero else { return shares }
        for stretch in stretches where stretch.kind == kind {
            let (start, end) = (stretch.range.lowerBound / length, stretch.range.upperBound / length)
            guard end > 0, start < Double(count) else { continue }
            for index in Int(max(start, 0))..<Int(min(end.rounded(.up), Double(count))) {
                shares[index] += max(min(end, Double(index + 1)) - max(start, Double(index)), 0)
            }
        }
        return shares.map { min($0, 1) }
    }
}
