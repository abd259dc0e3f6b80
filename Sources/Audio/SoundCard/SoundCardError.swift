/// Why a sound card cannot be used, with the remedy in its text.
public enum SoundCardError: Error, Hashable, Sendable {
    /// No PCM has this name, or the card it names is not there.
    case noSuchDevice(String)
    /// The machine's default is asked for, and the kernel knows no card.
    case noCard(String)
    /// The name leads to a sound server that does not answer.
    case noServer(String, explanation: String)
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
    /// The reason and the remedy, in one line.
    public var description: String { "\(reason): \(remedy)" }

    /// What happened, to which card.
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
            return "the sound card '\(name)' takes neither 16, 24 or 32-bit integers nor floats"
        case .failed(let name, let call, let code, let explanation):
            return "the sound card '\(name)' failed in \(call): \(Explanation.text(code))"
                + (explanation.isEmpty ? "" : " (\(explanation))")
        }
    }

    /// What to do about it.
    public var remedy: String {
        switch self {
        case .noSuchDevice: "`tenfour devices` lists the cards"
        case .noCard:
            "plug one in, or start a sound server and install its ALSA plugin (pipewire-alsa, or libasound2-plugins for"
                + " PulseAudio)"
        case .noServer:
            "start it (`systemctl --user start pipewire pipewire-pulse wireplumber`, or `pulseaudio --start`)"
        case .busy: "close it, or name another card (`tenfour devices` lists them)"
        case .notPermitted: "add yourself to the group audio (`sudo adduser $USER audio`) and log in again"
        case .wrongDirection: "`tenfour devices` lists the cards that can"
        case .noCommonFormat: "write 'plug:' before its name, which converts"
        case .failed: "`tenfour devices` lists the cards that work"
        }
    }
}
