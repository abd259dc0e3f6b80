/// The number under which a station waits at a relay: six digits. It is the station's address there, and no secret.
package struct RendezvousNumber: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    private static let range: ClosedRange<UInt32> = 100_000...999_999

    /// Nil if the number does not have six digits.
    package init?(rawValue: UInt32) {
        guard Self.range.contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// Draws a number. `generator` must be unpredictable: the system's generator, outside tests.
    package init(using generator: inout some RandomNumberGenerator) {
        rawValue = .random(in: Self.range, using: &generator)
    }

    /// Reads a number as people type it: six digits, also with spaces or hyphens between them.
    package init?(typed text: some StringProtocol) {
        let digits = String(text.filter { $0 != " " && $0 != "-" })
        guard digits.utf8.count == 6, digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let number = UInt32(digits)
        else { return nil }
        self.init(rawValue: number)
    }
}

extension RendezvousNumber: CustomStringConvertible {
    /// The number as it is shown and said: two groups of three digits.
    package var description: String { "\(rawValue / 1_000) \(String(rawValue % 1_000 + 1_000).dropFirst())" }
}
