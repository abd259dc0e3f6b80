/// Which counters came, of the latest 1024.
///
/// Asking and remembering are two steps: what was not authenticated must not move the window.
public struct ReplayWindow: Sendable {
    /// The highest that came; nil before the first.
    public private(set) var highest: UInt64?
    /// A bit for each counter, in its place modulo 1024.
    private var seen = InlineArray<16, UInt64>(repeating: 0)

    public static let count: UInt64 = 1024

    public init() {}

    /// Whether `counter` is neither one that came nor too old to tell.
    public func accepts(_ counter: UInt64) -> Bool {
        guard let highest, counter <= highest else { return true }
        return highest - counter < Self.count && seen[word(counter)] & bit(counter) == 0
    }

    /// It came, and was authentic.
    public mutating func insert(_ counter: UInt64) {
        if let highest, counter > highest {
            if counter - highest >= Self.count {
                seen = InlineArray(repeating: 0)
            } else {
                for passed in (highest + 1)...counter { seen[word(passed)] &= ~bit(passed) }
            }
        }
        seen[word(counter)] |= bit(counter)
        highest = max(highest ?? counter, counter)
    }

    private func word(_ counter: UInt64) -> Int { Int(counter >> 6 & 15) }
    private func bit(_ counter: UInt64) -> UInt64 { 1 << (counter & 63) }
}
