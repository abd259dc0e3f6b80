/// Why a sound card cannot be used, with the remedy in its text.
public enum SoundCardError: Error, Hashable, Sendable {
    /// No PCM has this name, or the card it names is not there.
    case noSuchDevice(String)
    /// Another program holds the card; `holder` is its name where the kernel tells.
    case busy(String, holder: String?)
    /// The device files of the card are closed to this user.
    case notPermitted(String)
    /// The card does not do this at all: a microphone asked to play.
    case wrongDirection(String, Direction)
    /// The card takes none of the sample formats that we write.
    case noCommonFormat(String)
    /// An ALSA call failed otherwise. `explanation` is alsa-lib's own, empty when it gave none.
    case failed(String, call: String, code: Int32, explanation: String)
}

/// Which way sound goes through a card.
public enum Direction: Hashable, Sendable {
    case playback, capture
}

extension SoundCardError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .noSuchDevice(let name):
            return "no sound card named '\(name)': `tenfour devices` lists what is here"
        case .busy(let name, let holder):
            return "the sound card '\(name)' is in use by \(holder ?? "another program"): close that, or name another card"
                + " (`tenfour devices` lists what is here)"
        case .notPermitted(let name):
            return "not allowed to open the sound card '\(name)': add yourself to the group audio"
                + " (`sudo adduser $USER audio`) and log in again"
        case .wrongDirection(let name, let direction):
            let verb = direction == .playback ? "play" : "capture"
            return "the sound card '\(name)' cannot \(verb): `tenfour devices` lists what can"
        case .noCommonFormat(let name):
            return "the sound card '\(name)' takes neither 16, 24 or 32-bit integers nor floats:"
                + " a name with 'plug:' before it converts"
        case .failed(let name, let call, let code, let explanation):
            let reason = explanation.isEmpty ? "" : " (\(explanation))"
            return "the sound card '\(name)' failed in \(call): \(Explanation.text(code))\(reason);"
                + " `tenfour devices` lists what works"
        }
    }
}
