/// A colour; its components are 0…1.
struct Colour: Equatable {
    var red, green, blue: Double
    var alpha = 1.0

    /// Creates a colour from `0xRRGGBB`.
    init(_ rgb: Int) {
        red = Double(rgb >> 16 & 0xFF) / 255
        green = Double(rgb >> 8 & 0xFF) / 255
        blue = Double(rgb & 0xFF) / 255
    }

    func with(alpha: Double) -> Self {
        var colour = self
        colour.alpha = alpha
        return colour
    }

    /// Returns a mixture of the two colours, in which the proportion of `other` is `share`, 0…1.
    func mixed(with other: Self, _ share: Double) -> Self {
        var colour = self
        colour.red += (other.red - red) * share
        colour.green += (other.green - green) * share
        colour.blue += (other.blue - blue) * share
        return colour
    }
}

/// The colours of a picture.
struct Palette {
    let paper, ink, faint, grid, sound, peak, passed, concealed, recovered, delay: Colour

    static let light = Palette(
        paper: Colour(0xFFFFFF), ink: Colour(0x1F2933), faint: Colour(0x6B7A88), grid: Colour(0xE4E9EE),
        sound: Colour(0x2F6690), peak: Colour(0xA9C6DC), passed: Colour(0xF48C06), concealed: Colour(0xE5383B),
        recovered: Colour(0x2B9348), delay: Colour(0xF48C06))
    static let dark = Palette(
        paper: Colour(0x11161C), ink: Colour(0xE6EDF3), faint: Colour(0x93A1AF), grid: Colour(0x26303A),
        sound: Colour(0x5AA9E6), peak: Colour(0x2C5675), passed: Colour(0xFFB347), concealed: Colour(0xFF5A5F),
        recovered: Colour(0x57CC78), delay: Colour(0xFFB347))
}
