internal import TenfourAudioCore

/// The text of filters, such as `bass:+4,peak:1000:+3:1.4,lowpass:8000`.
enum FilterText {
    /// How the values of a filter are written.
    private struct Form {
        var name: String
        var shape: FilterDesign.Shape
        /// The frequency if none is written; nil: one must be written.
        var frequency: Double?
        var hasGain: Bool
        /// The width if none is written; nil: the filter has no width.
        var width: FilterDesign.Width?

        init(
            _ name: String, _ shape: FilterDesign.Shape, frequency: Double? = nil, hasGain: Bool = false,
            width: FilterDesign.Width? = FilterDesign.flattest
        ) {
            (self.name, self.shape, self.frequency, self.hasGain) = (name, shape, frequency, hasGain)
            self.width = width
        }

        /// How the filter is written, such as `peak:FREQUENCY:GAIN[:Q]`.
        var text: String {
            let frequency = self.frequency == nil ? ":FREQUENCY" : "[:FREQUENCY]"
            let widthName =
                switch width {
                case .slope: "[:SLOPE]"
                case .q, .octaves: "[:Q]"
                case nil: ""
                }
            return name + frequency + (hasGain ? ":GAIN" : "") + widthName
        }
    }

    private static let forms = [
        Form("bass", .lowShelf, frequency: ToneControls.bassFrequency, hasGain: true, width: ToneControls.width),
        Form("mid", .peak, frequency: 1_000, hasGain: true, width: .q(0.7)),
        Form("treble", .highShelf, frequency: ToneControls.trebleFrequency, hasGain: true, width: ToneControls.width),
        Form("peak", .peak, hasGain: true, width: .q(1)),
        Form("lowshelf", .lowShelf, hasGain: true, width: ToneControls.width),
        Form("highshelf", .highShelf, hasGain: true, width: ToneControls.width),
        Form("lowpass", .lowPass), Form("highpass", .highPass),
        Form("bandpass", .bandPass), Form("bandskirt", .bandPassSkirt),
        Form("notch", .notch, width: .q(10)), Form("allpass", .allPass),
        Form("lowpass1", .lowPassFirstOrder, width: nil), Form("highpass1", .highPassFirstOrder, width: nil),
    ]

    static var names: [String] { forms.map(\.name) }

    /// The longest text that is read, in bytes.
    private static let maximumByteCount = 4_096

    /// Returns how the filter `name` is written.
    static func form(of name: String) -> String { forms.first { $0.name == name }?.text ?? "name:value" }

    /// Reads filters that are separated by commas. Throws the first error; reads no more than `limit` filters.
    static func designs(of text: String, limit: Int) throws(EffectError) -> [FilterDesign] {
        guard text.utf8.count <= maximumByteCount else { throw .textTooLong(limit: maximumByteCount) }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count <= limit else { throw .tooManyFilters(count: parts.count, limit: limit) }
        var designs: [FilterDesign] = []
        for part in parts { designs.append(try design(of: part)) }
        return designs
    }

    private static func design(of text: Substring) throws(EffectError) -> FilterDesign {
        let words = text.split(separator: ":", omittingEmptySubsequences: false).map(trimmed)
        guard let name = words.first, words.count > 1 || !name.isEmpty else { throw .emptyFilter }
        let lowercased = name.lowercased()
        guard let form = forms.first(where: { $0.name == lowercased }) else {
            throw .unknownFilter(shortened(name))
        }
        var numbers: [Double] = []
        for word in words.dropFirst() {
            guard let number = number(word) else { throw .notANumber(shortened(word), filter: form.name) }
            numbers.append(number)
        }
        return try design(form, numbers)
    }

    private static func design(_ form: Form, _ numbers: [Double]) throws(EffectError) -> FilterDesign {
        let most = 1 + (form.hasGain ? 1 : 0) + (form.width == nil ? 0 : 1)
        let fewest = (form.frequency == nil ? 1 : 0) + (form.hasGain ? 1 : 0)
        guard (fewest...most).contains(numbers.count) else { throw .wrongForm(filter: form.name, form: form.text) }
        var rest = numbers[...]
        // A single value of a filter that has a frequency of its own is its gain.
        let frequency =
            if let usual = form.frequency, rest.count == fewest { usual } else { rest.removeFirst() }
        var design = FilterDesign(form.shape, frequency: frequency)
        if form.hasGain { design.gain = rest.removeFirst() }
        if let width = form.width { design.width = width }
        if let value = rest.first {
            design.width = if case .slope = design.width { .slope(value) } else { .q(value) }
        }
        try design.checkWithoutRate()
        return design
    }

    /// Returns a number such as `+4`, `-2.5dB`, `8k`, `8 kHz`, `100Hz`; nil if `text` is not one, or is not finite.
    private static func number(_ text: String) -> Double? {
        var digits = text.lowercased()[...]
        for unit in ["hz", "db"] where digits.hasSuffix(unit) {
            digits = digits.dropLast(unit.count)
            break
        }
        var factor = 1.0
        if digits.hasSuffix("k") {
            digits = digits.dropLast()
            factor = 1_000
        }
        let rest = trimmed(digits)
        // Refuses what Double would read besides: hexadecimal, nan, inf.
        guard rest.utf8.count <= 32, rest.utf8.allSatisfy({ isDigit($0) || "+-.e".utf8.contains($0) }),
            let number = Double(rest), number.isFinite
        else { return nil }
        return number * factor
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func trimmed(_ text: Substring) -> String {
        var text = text
        while text.first == " " { text = text.dropFirst() }
        while text.last == " " { text = text.dropLast() }
        return String(text)
    }

    private static func shortened(_ text: String) -> String { String(fromPeer: text, limit: 40) }

    /// Returns the text of a design, which `designs(of:limit:)` reads as the same design; nil if it has no text.
    static func text(of design: FilterDesign) -> String? {
        guard let form = forms.first(where: { $0.shape == design.shape && $0.frequency == nil }) else { return nil }
        var words = [form.name, "\(design.frequency)"]
        if form.hasGain { words.append("\(design.gain > 0 ? "+" : "")\(design.gain)") }
        switch (design.width, form.width) {
        case (_, nil): break
        case (.q(let value), .q), (.slope(let value), .slope): words.append("\(value)")
        default: return nil
        }
        return words.joined(separator: ":")
    }
}

/// The two tone controls: shelves with the frequencies and slopes of sox's `bass` and `treble`.
enum ToneControls {
    static let bassFrequency = 100.0
    static let trebleFrequency = 3_000.0
    static let width = FilterDesign.Width.slope(0.5)

    static func bass(_ gain: Double) -> FilterDesign {
        FilterDesign(.lowShelf, frequency: bassFrequency, gain: gain, width: width)
    }

    static func treble(_ gain: Double) -> FilterDesign {
        FilterDesign(.highShelf, frequency: trebleFrequency, gain: gain, width: width)
    }
}
