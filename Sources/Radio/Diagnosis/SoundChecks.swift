internal import TenfourAudioCore
internal import TenfourSoundCard

extension DiagnosticCheck {
    /// Whether the card can be opened in both directions, and at which rate it runs.
    static let sound = DiagnosticCheck(name: "card") { facts in facts.sound.map { $0.cardFindings(facts.packages) } }

    /// Whether the microphone delivers anything.
    static let microphone = DiagnosticCheck(name: "microphone") { facts in facts.sound.map { $0.microphoneFindings } }

    /// Whether ALSA programs reach the user's sound server.
    static let soundServer = DiagnosticCheck(name: "sound server") { facts in
        facts.sound.map { $0.serverFindings(facts.packages) }
    }
}

extension SoundFacts {
    func cardFindings(_ packages: PackageManager) -> [Finding] {
        switch (playback, capture) {
        case (.opened(let name, let rate), .opened(_, let captureRate)):
            let shown = name.isEmpty ? "" : " (\(String(fromPeer: name)))"
            guard let other = [rate, captureRate].first(where: { $0 != .opus }) else {
                return [.well("'\(device)'\(shown) plays and captures at 48000 Hz")]
            }
            return [
                .limit(
                    .otherRate, "the card '\(device)'\(shown) runs at \(other.hertz) Hz and cannot do 48000 Hz",
                    "tenfour converts the rate, so nothing has to be done. For less delay use a card that lists"
                        + " 48000 in"
                        + " `tenfour devices`, and name it with -D.")
            ]
        case (.failed(let error), .failed(let other)) where finding(error, packages) == finding(other, packages):
            return [finding(error, packages)]
        case (.failed(let error), .failed(let other)): return [finding(error, packages), finding(other, packages)]
        case (.failed(let error), .opened), (.opened, .failed(let error)): return [finding(error, packages)]
        }
    }

    private func finding(_ error: SoundCardError, _ packages: PackageManager) -> Finding {
        if !forbiddenFiles.isEmpty, error.mayBeForRights { return rightsFinding }
        switch error {
        case .noCard where server.running != nil && !server.hasPlugin:
            return .fault(
                .noALSAPlugin, "\(server.running.words) runs, but ALSA programs cannot play to it",
                "Install its plugin: \(packages.command(server.running.plugin)).")
        case .noCard where server.installed != nil && server.running == nil: return stoppedServer(.fault)
        case .noCard:
            return .fault(
                .noCard, "this machine has no sound card",
                "Plug one in. If it has one, start a sound server and install its plugin:"
                    + " \(packages.command("pipewire-alsa")).")
        case .noServer: return stoppedServer(.fault)
        case .noSuchDevice: return .fault(.unknownCard, error.reason, "`tenfour devices` lists the cards.")
        case .busy(_, let holder):
            let program = holder.map { String(fromPeer: $0) } ?? "the program that uses it"
            let others = " `fuser -v /dev/snd/*` lists who uses the cards."
            return .fault(
                .busyCard, error.reason,
                "End \(program), or name another card with -D.\(holder == nil ? others : "")")
        case .notPermitted: return rightsFinding
        case .wrongDirection:
            return .fault(
                .wrongDirection, error.reason, "Name another card with -D; `tenfour devices` tells what each can do.")
        case .noCommonFormat:
            return .fault(.cardFails, error.reason, "Write -D plug:\(device), so that ALSA converts the samples.")
        case .failed:
            return .fault(.cardFails, error.reason, "`tenfour devices` lists the cards that work; name one with -D.")
        }
    }

    private var rightsFinding: Finding {
        let file = forbiddenFiles.first ?? "the files in /dev/snd"
        let group = group ?? "audio"
        let remedy =
            isMemberSoon
            ? "You are in the group \(group), but this login is older: log out, and log in again."
            : "Add yourself to its group, and log in again: `sudo usermod -aG \(group) $USER`."
        return .fault(.noRights, "this user may not open \(file)", remedy)
    }

    /// Empty if the card does not open, which is a finding of its own.
    var microphoneFindings: [Finding] {
        guard case .opened = capture else { return [] }
        return [microphoneFinding]
    }

    private var microphoneFinding: Finding {
        switch capturedPeak {
        case nil:
            return .fault(
                .cardFails, "the card delivered no audio within two seconds",
                "Name another card with -D; `tenfour devices` lists them.")
        case 0?:
            let command =
                switch server.running {
                case .pipewire: "`wpctl set-mute @DEFAULT_AUDIO_SOURCE@ 0`"
                case .pulseAudio: "`pactl set-source-mute @DEFAULT_SOURCE@ 0`"
                case nil: "`alsamixer -V capture`, where the space bar switches capturing on"
                }
            return .fault(
                .silentMicrophone, "the microphone delivers digital silence: it is muted, or switched off",
                "Use its own switch if it has one, and unmute it: \(command).")
        case let peak?:
            return .well("the microphone delivers audio, up to \(decibels(peak)) dBFS")
        }
    }

    private func decibels(_ peak: Float) -> Int { Int(Level(meanSquare: peak * peak).decibels.rounded()) }

    /// Empty if the card has the same finding.
    func serverFindings(_ packages: PackageManager) -> [Finding] {
        let finding = serverFinding(packages)
        let isTold = finding.symptom != nil && cardFindings(packages).contains { $0.symptom == finding.symptom }
        return isTold ? [] : [finding]
    }

    private func serverFinding(_ packages: PackageManager) -> Finding {
        guard let kind = server.running else {
            return server.installed == nil
                ? .well("no sound server is installed; ALSA is used alone") : stoppedServer(.limit)
        }
        guard server.hasPlugin else {
            let works = if case .opened = playback { true } else { false }
            return Finding(
                severity: works ? .limit : .fault, symptom: .noALSAPlugin,
                text: "\(kind.name) runs, but ALSA programs cannot play to it",
                remedy: "Install its plugin: \(packages.command(kind.plugin)).")
        }
        return .well("\(kind.name) runs, and ALSA programs play to it")
    }

    private func stoppedServer(_ severity: Finding.Severity) -> Finding {
        let kind = server.installed ?? .pipewire
        let command =
            kind == .pipewire
            ? "`systemctl --user start pipewire pipewire-pulse wireplumber`" : "`pulseaudio --start`"
        return Finding(
            severity: severity, symptom: .noSoundServer,
            text: "\(kind.name) is installed and does not run for this user",
            remedy: "Start it: \(command).")
    }
}

extension SoundServerFacts.Kind {
    var name: String { self == .pipewire ? "PipeWire" : "PulseAudio" }

    /// Debian's package with the plugin of alsa-lib.
    var plugin: String { self == .pipewire ? "pipewire-alsa" : "libasound2-plugins" }
}

extension SoundServerFacts.Kind? {
    fileprivate var words: String { self?.name ?? "the sound server" }
    fileprivate var plugin: String { self?.plugin ?? "pipewire-alsa" }
}

extension SoundCardError {
    /// Whether the reason may be that the user may not open the device files. alsa-lib does not see such cards.
    fileprivate var mayBeForRights: Bool {
        switch self {
        case .noSuchDevice, .noCard, .notPermitted, .failed: true
        case .noServer, .busy, .wrongDirection, .noCommonFormat: false
        }
    }
}
