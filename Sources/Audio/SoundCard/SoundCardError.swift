/// The reason why a sound card cannot be used, with the remedy.
public enum SoundCardError: Error, Hashable, Sendable {
    /// No PCM has this name, or its card is missing.
    case noSuchDevice(String)
    /// The default card was requested, and the kernel has no card.
    case noCard(String)
    /// The sound server behind this name does not answer.
    case noServer(String, explanation: String)
    /// Another program uses the card; `holder` is its name, if known.
    case busy(String, holder: String?)
    /// This user may not open the card's device files.
    case notPermitted(String)
    /// The card does not support this direction.
    case wrongDirection(String, Direction)
    /// The card supports none of our sample formats.
    case noCommonFormat(String)
    /// Another failure of an ALSA call. `explanation` is alsa-lib's message, possibly empty.
    case failed(String, call: String, code: Int32, explanation: String)
}

/// The direction of audio through a card.
public enum Direction: Hashable, Sendable {
    case playback, capture
}

extension SoundCardError: CustomStringConvertible {
    /// The reason and the remedy, in one line.
    public var description: String { "\(reason): \(remedy)" }

    /// A sentence that names the card and the failure.
    public var reason: String {
        switch self {
        case .noSuchDevice(let name): return "no sound card named '\(name)'"
        case .noCard: return "this machine has no sound card"
        case .noServer(let name, let explanation):
            return "the sound server behind '\(name)' does not answer"
                + (explanation.isEmpty ? "" : " (\(explanation))")
        case .busy(let name, let holder):
            return "the sound card '\(name)' is in use by \(holder ?? "another program")"
        case .notPermitted(let name): return "not allowed to open the sound card '\(name)'"
        case .wrongDirection(let name, let direction):
            return "the sound card '\(name)' cannot \(direction == .playback ? "play" : "capture")"
        case .noCommonFormat(let name):
            return "the sound card '\(name)' supports neither 16, 24 or 32-bit integers nor floats"
        case .failed(let name, _, let code, let explanation):
            return "the sound card '\(name)' failed: \(ALSAMessages.text(code))"
                + (explanation.isEmpty ? "" : " (\(explanation))")
        }
    }

    /// The remedy.
    public var remedy: String {
        switch self {
        case .noSuchDevice: "`tenfour devices` lists the cards"
        case .noCard:
            "plug one in, or start a sound server and install its ALSA plugin (pipewire-alsa, or libasound2-plugins for"
                + " PulseAudio)"
        case .noServer:
            "start it (`systemctl --user start pipewire pipewire-pulse wireplumber`, or `pulseaudio --start`)"
        case .busy: "end that program, or name another card (`tenfour devices` lists them)"
        case .notPermitted: "add yourself to the group audio (`sudo adduser $USER audio`) and log in again"
        case .wrongDirection: "name another card (`tenfour devices` lists what each card can do)"
        case .noCommonFormat: "write 'plug:' before its name, so that ALSA converts the samples"
        case .failed: "`tenfour devices` lists the cards that work"
        }
    }
}
