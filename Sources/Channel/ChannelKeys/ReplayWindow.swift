/// Remembers which of the latest 1024 counters have been received.
///
/// Checking and inserting are separate steps, because a datagram that is not authentic must not move the window.
public struct ReplayWindow: Sendable {
    /// The highest counter received; nil if none has been received.
    public private(set) var highest: UInt64?
    /// One bit for each of the latest 1024 counters, at the counter modulo 1024. The bit is 1 if the counter has been
    /// received.
    private var seen = InlineArray<16, UInt64>(repeating: 0)

    public static let count: UInt64 = 1024

    public init() {}

    /// Whether `counter` is new. False if it has been received, or is 1024 or more below the highest.
    public func accepts(_ counter: UInt64) -> Bool {
        guard let highest, counter <= highest else { return true }
        return highest - counter < Self.count && seen[word(counter)] & bit(counter) == 0
    }

    /// Marks `counter` as received. Call this only after the datagram with this counter was authenticated.
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
