internal import Glibc

/// The gain that brings a recording to the loudness of others, as its tags state it: ReplayGain 2.0, or R128 of Ogg
/// Opus (RFC 7845 section 5.2.1).
///
/// Gains are in decibels and refer to −18 LUFS. Peaks are factors of full scale.
public struct ReplayGain: Equatable, Sendable {
    public var trackGain: Double?
    public var trackPeak: Double?
    /// The gain that keeps the loudness of the tracks of an album apart.
    public var albumGain: Double?
    public var albumPeak: Double?

    public init(
        trackGain: Double? = nil, trackPeak: Double? = nil, albumGain: Double? = nil, albumPeak: Double? = nil
    ) {
        self.trackGain = trackGain
        self.trackPeak = trackPeak
        self.albumGain = albumGain
        self.albumPeak = albumPeak
    }

    /// The gains in decibels that are believed. Other gains are mistakes or malice.
    public static let gains = -60.0...60
    /// The peaks that are believed. Codecs with loss decode to peaks above 1.
    private static let peaks = 0.000_01...100

    /// Which of the gains is applied.
    public enum Mode: String, CaseIterable, Sendable {
        /// The track's gain, or the album's if there is none.
        case track
        /// The album's gain, or the track's if there is none.
        case album
        /// No gain: tags are ignored.
        case none
    }

    /// The factor by which samples are multiplied, and whether they may then exceed full scale.
    public struct Factor: Equatable, Sendable {
        public var amplitude: Float
        /// Whether the gain amplifies, and no peak is known that proves that full scale is kept.
        public var mayExceedFullScale: Bool
    }

    /// Returns the factor for a mode. A known peak limits it, so that nothing is clipped. Returns nil if the samples
    /// stay as they are.
    public func factor(_ mode: Mode) -> Factor? {
        let isAlbum = mode == .album && albumGain != nil || trackGain == nil
        guard mode != .none, let gain = isAlbum ? albumGain : trackGain else { return nil }
        var amplitude = pow(10, gain / 20)
        let peak = isAlbum ? albumPeak : trackPeak
        if let peak, gain > 0 { amplitude = max(min(amplitude, 1 / peak), 1) }
        let factor = Float(amplitude)
        return factor == 1 ? nil : Factor(amplitude: factor, mayExceedFullScale: factor > 1 && peak == nil)
    }
}

extension ReplayGain {
    /// The names of the tags that are read.
    package static let tagNames = [
        "REPLAYGAIN_TRACK_GAIN", "REPLAYGAIN_TRACK_PEAK", "REPLAYGAIN_ALBUM_GAIN", "REPLAYGAIN_ALBUM_PEAK",
        "R128_TRACK_GAIN", "R128_ALBUM_GAIN",
    ]

    /// The difference from R128 gains, which refer to −23 LUFS, to those of ReplayGain, in decibels.
    private static let distanceOfR128 = 5.0

    /// Reads a tag. `name` is in upper case. A value that is no number, or out of range, is ignored. An R128 gain comes
    /// before a ReplayGain, which Ogg Opus should not have.
    package mutating func read(_ name: String, _ value: String) {
        switch name {
        case "REPLAYGAIN_TRACK_GAIN": trackGain = trackGain ?? Self.gain(value)
        case "REPLAYGAIN_ALBUM_GAIN": albumGain = albumGain ?? Self.gain(value)
        case "REPLAYGAIN_TRACK_PEAK": trackPeak = trackPeak ?? Self.number(value, in: Self.peaks)
        case "REPLAYGAIN_ALBUM_PEAK": albumPeak = albumPeak ?? Self.number(value, in: Self.peaks)
        case "R128_TRACK_GAIN": trackGain = Self.gainOfR128(value) ?? trackGain
        case "R128_ALBUM_GAIN": albumGain = Self.gainOfR128(value) ?? albumGain
        default: break
        }
    }

    /// Parses a gain such as `-7.03 dB`.
    private static func gain(_ text: String) -> Double? {
        var text = text.trimmed
        if text.suffix(2).lowercased() == "db" { text = text.dropLast(2).trimmed }
        return number(String(text), in: gains)
    }

    /// Parses a gain in 256ths of a decibel.
    private static func gainOfR128(_ text: String) -> Double? {
        guard let steps = Int16(text.trimmed) else { return nil }
        let gain = Double(steps) / 256 + distanceOfR128
        return gains.contains(gain) ? gain : nil
    }

    private static func number(_ text: String, in range: ClosedRange<Double>) -> Double? {
        guard text.utf8.count <= 64, let number = Double(text.trimmed), range.contains(number) else { return nil }
        return number
    }
}

extension StringProtocol where SubSequence == Substring {
    /// The text without white space at its ends.
    fileprivate var trimmed: Substring {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}
