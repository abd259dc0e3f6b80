import ArgumentParser
import TenfourRadio

/// The options for playback rate and pitch of received audio.
struct TimePitchOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Playback speed, 0.25 to 4. Below 1, playback falls behind the talkers by up to 30 s, and catches up "
                + "when nobody talks or when the rate is 1 again.",
            valueName: "factor"))
    var rate: Double?

    // Parsed unconditionally, since a negative number looks like an option.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Pitch shift in cents (hundredths of a semitone), -2400 to 2400.", valueName: "cents")
    )
    var pitch: Double?

    func validate() throws {
        if let rate, !(0.25...4).contains(rate) {
            throw ValidationError("--rate \(rate) is out of range: write 0.25 to 4.")
        }
        if let pitch, !(-2_400...2_400).contains(pitch) {
            throw ValidationError("--pitch \(pitch) is out of range: write -2400 to 2400.")
        }
    }

    func apply(to playout: inout PlayoutSettings) {
        guard rate != nil || pitch != nil else { return }
        playout.timePitch = LiveTimePitchSettings(rate: rate ?? 1, pitch: pitch ?? 0)
    }
}

/// The keyboard keys that change rate and pitch: `[`, `]`, `{` and `}` as in mpv, `(` and `)` for the pitch; backspace
/// resets both.
enum TimePitchKeys {
    static let help =
        "[ and ] change the speed by a tenth, { and } halve and double it, ( and ) lower and raise the pitch, backspace resets both, m mutes, q quits"

    /// Changes rate or pitch if `key` is one of these keys. Returns false for other keys.
    static func handle(_ key: Character, _ session: RadioSession) -> Bool {
        switch key {
        case "[": session.rate = max(RateStep.step(session.rate, by: 1 / 1.1), 0.25)
        case "]": session.rate = min(RateStep.step(session.rate, by: 1.1), 4)
        case "{": session.rate = max(RateStep.step(session.rate, by: 0.5), 0.25)
        case "}": session.rate = min(RateStep.step(session.rate, by: 2), 4)
        case "(": session.pitch = max(session.pitch - 100, -2_400)
        case ")": session.pitch = min(session.pitch + 100, 2_400)
        case "\u{7F}", "\u{8}":
            session.rate = 1
            session.pitch = 0
        default: return false
        }
        return true
    }
}
