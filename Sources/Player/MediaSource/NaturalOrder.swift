/// A name as a key for sorting as people sort: `Track 2` before `Track 10`, whatever the case of the letters.
///
/// Runs of ASCII digits compare by their value, all other characters by their lower-case form. Names that differ in
/// case or in leading zeros only are sorted by their characters, so that the order is always the same.
package struct NaturalOrder: Comparable, Sendable {
    package let name: String
    private let parts: [Part]

    private enum Part: Equatable, Sendable {
        /// The digits of a number without leading zeros.
        case number([UInt8])
        case character(UInt32)
    }

    package init(_ name: String) {
        self.name = name
        var parts: [Part] = []
        var digits: [UInt8]?
        for scalar in name.unicodeScalars {
            if (48...57).contains(scalar.value) {
                // A leading zero begins a number, but is none of its digits.
                if scalar.value == 48, digits?.isEmpty ?? true {
                    digits = []
                } else {
                    digits = (digits ?? []) + [UInt8(scalar.value)]
                }
                continue
            }
            if let number = digits { parts.append(.number(number)) }
            digits = nil
            for lower in scalar.properties.lowercaseMapping.unicodeScalars { parts.append(.character(lower.value)) }
        }
        if let number = digits { parts.append(.number(number)) }
        self.parts = parts
    }

    package static func < (left: Self, right: Self) -> Bool {
        for (one, other) in zip(left.parts, right.parts) where one != other {
            switch (one, other) {
            case (.number(let one), .number(let other)):
                return one.count != other.count ? one.count < other.count : one.lexicographicallyPrecedes(other)
            case (.character(let one), .character(let other)): return one < other
            // A number comes where its digits come.
            case (.number, .character(let other)): return 48 < other
            case (.character(let one), .number): return one < 48
            }
        }
        if left.parts.count != right.parts.count { return left.parts.count < right.parts.count }
        return left.name < right.name
    }
}
