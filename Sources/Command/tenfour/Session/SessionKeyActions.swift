import TenfourClocks
import TenfourCommandSupport
import TenfourPlayer
import TenfourRadio

/// What the keys do while a session runs, apart from space.
struct SessionKeyActions {
    enum Action {
        case quit
        /// Lines for the user; none if the key does its work silently.
        case show([String])
        /// A change that the field of the status line shows; a line for users whose status line has no room for it.
        case changed(String, StatusFields.Role)
        /// The text of the status line.
        case showState
    }

    private let observer: SessionObserver
    private let channels: ChannelGroup
    private let talkKeys: MicrophoneKeys?
    /// The player whose audio is sent; nil if there is none.
    private let streamer: Streamer?
    private let hears: Bool
    private let hasTimePitch: Bool
    /// Whether there is no status line.
    private let isPlain: Bool
    private var volumeKeys: VolumeKeys

    private var session: RadioSession { observer.session }
    /// The volumes that the status line shows.
    var volumes: VolumeView { volumeKeys.view(at: MonotonicClock.now) }

    init(
        _ configuration: RadioConfiguration, _ observer: SessionObserver, _ channels: ChannelGroup,
        _ talkKeys: MicrophoneKeys?, _ streamer: Streamer?, _ display: SessionDisplay
    ) {
        isPlain = display == .plain
        self.observer = observer
        self.channels = channels
        self.talkKeys = talkKeys
        volumeKeys = VolumeKeys(channels.volumes)
        self.streamer = streamer
        hears = configuration.output != nil
        hasTimePitch = configuration.playout.timePitch != nil
    }

    /// Performs the action of the pressed `key`.
    mutating func action(of key: TerminalKey) -> Action {
        if let streamer, let action = PlayKeys.action(for: key) {
            switch action {
            case .quit: return .quit
            case .help: return .show([PlayKeys.helpWhileSending(isPlain: isPlain)])
            case .shuffle where isPlain: return .showState
            default:
                action.apply(to: streamer)
                return .show([])
            }
        }
        guard case .character(let character) = key else { return .show([]) }
        if hasTimePitch, TimePitchKeys.handle(character, session) { return .show([]) }
        if hears, let action = volumeAction(of: character) { return action }
        switch character {
        case "m" where hears:
            return .changed(
                channels.toggleMute() ? "the speaker is muted" : "the speaker is no longer muted", .mute)
        case "r" where session.canReplay: channels.replay(.lastTransmission)
        case "R" where session.canReplay: channels.replay(.lastMinute)
        case "a" where channels.hasMonitors && talkKeys != nil:
            return .show([channels.answer()])
        case "e" where talkKeys != nil && needsFloor: return .show(talkKeys?.handleEmergency() ?? [])
        case "s" where isPlain: return .showState
        case "w": return .show(peopleLines())
        case "q", "\u{4}": return .quit
        case "?": return .show(help)
        default: break
        }
        return .show([])
    }

    /// Whether the session that has the microphone requests the floor.
    private var needsFloor: Bool { (channels.answered?.1 ?? session).snapshot?.floor?.isNeeded == true }

    private mutating func volumeAction(of key: Character) -> Action? {
        switch volumeKeys.action(of: key, channels.talkers(observer), at: MonotonicClock.now) {
        case .list: .show(peopleLines())
        case .show(let line): .show([line])
        case .changed(let line): .changed(line, .volumeChange)
        case nil: nil
        }
    }

    /// Returns the lines about who is here, with a number for each of the first talkers.
    private mutating func peopleLines() -> [String] {
        guard hears else { return observer.peopleLines { _ in PersonMark() } }
        volumeKeys.number(channels.talkers(observer))
        let keys = volumeKeys
        return observer.peopleLines { keys.mark($0, in: 0) } + channels.peopleLines { keys.mark($0, in: $1) }
    }

    private var help: [String] {
        let keys = hasTimePitch ? TimePitchKeys.help : talkKeys?.help ?? (hears ? Self.hearingHelp : Self.sendingHelp)
        return [keys] + (hears ? [VolumeKeys.help] : []) + (session.canReplay ? [Self.replayHelp] : [])
            + (channels.hasMonitors ? [ChannelGroup.help] : [])
            + (talkKeys != nil && needsFloor ? [Self.emergencyHelp] : [])
            + [Self.peopleHelp + (isPlain ? ", s shows the state" : "")]
    }

    private static let hearingHelp = "m mutes the speaker, q quits"
    private static let sendingHelp = "q quits"
    private static let emergencyHelp = "e twice takes the floor from the talker: an emergency, once a minute"
    private static let peopleHelp = "w lists who is here"
    private static let replayHelp = "r plays the last transmission again, R the last minute, faster; r stops it"
}
