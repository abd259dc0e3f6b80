import TenfourAudioCore
import TenfourClocks
import TenfourPackets
import TenfourPushToTalk
import TenfourRadio

/// A channel that is heard beside the one to talk in.
struct MonitoredChannel {
    let name: String
    let configuration: RadioConfiguration
    /// Whether it is lowered while another channel is heard.
    let ducks: Bool
    /// Why the user cannot talk in it; nil if that is possible.
    let obstacle: String?
    let recording: SessionRecording?
}

/// The sessions of a talk: the one that it began with, and those of monitored channels. It decides which are lowered, and
/// which is answered. Use it on one thread.
final class ChannelGroup {
    let microphone: SharedMicrophone
    let volumes: VolumeControl
    /// The owner of the microphone that the user knows of.
    private var toldOwner = 0
    private let monitors: [Monitor]
    private var homeActivity = Activity()

    private var home: RadioSession { microphone.sessions[0] }

    private final class Monitor {
        let channel: MonitoredChannel
        let observer: SessionObserver
        var activity = Activity()

        var session: RadioSession { observer.session }

        init(_ channel: MonitoredChannel, verbose: Bool) throws(RadioError) {
            self.channel = channel
            observer = SessionObserver(
                try RadioSession(channel.configuration), channel.configuration, microphone: nil, verbose: verbose,
                keepsSeconds: false, tellsTalkers: true)
        }
    }

    /// When a session was heard last.
    private struct Activity {
        private var last: Instant?

        /// The time for which a channel counts as heard after a word, so that the volume does not change between words.
        private static let hangTime = Duration.seconds(1)

        mutating func update(isHeard: Bool, at now: Instant) { if isHeard { last = now } }

        func isCurrent(at now: Instant) -> Bool { age(at: now).map { $0 < Self.hangTime } ?? false }

        /// The time since the last word; nil if there was none.
        func age(at now: Instant) -> Duration? { last.map { now - $0 } }
    }

    /// The time after the last word within which a channel can be answered.
    private static let answerTime = Duration.seconds(5)
    static let help = "a answers the monitored channel that was heard within 5 s, and returns from it"

    /// Opens the sessions of `channels`. `home` is that of the talk itself, and `name` is what the user calls it.
    init(
        _ home: RadioSession, _ configuration: RadioConfiguration, named name: String, _ channels: [MonitoredChannel],
        verbose: Bool, keepingVolumes file: KeptVolumeFile? = nil
    ) throws(RadioError) {
        var monitors: [Monitor] = []
        for channel in channels { monitors.append(try Monitor(channel, verbose: verbose)) }
        self.monitors = monitors
        microphone = SharedMicrophone(
            [home] + monitors.map(\.session),
            [.init(name: name, obstacle: nil)] + channels.map { .init(name: $0.name, obstacle: $0.obstacle) },
            isHalfDuplex: configuration.duplex == .half)
        volumes = VolumeControl(microphone.sessions, file)
    }

    var hasMonitors: Bool { !monitors.isEmpty }

    /// The monitored channel that the microphone belongs to; nil if it belongs to the first session.
    var answered: (channel: String, RadioSession)? {
        let owner = microphone.owner
        return owner > 0 ? (monitors[owner - 1].channel.name, microphone.sessions[owner]) : nil
    }

    /// The talkers' names in the monitored channels.
    var monitoredNames: [TalkerNames] { monitors.map(\.observer.names) }

    /// Tells programs at the control socket what happens in the monitored channels.
    func tellEvents(to control: StationControl) {
        for monitor in monitors {
            monitor.observer.events = ControlEvents(channel: monitor.channel.name) { control.post($0) }
        }
    }

    func start() throws(RadioError) { for monitor in monitors { try monitor.session.start() } }

    func stop() { for monitor in monitors { monitor.session.stop() } }

    /// Waits for the end of the monitored channels, and completes their recordings. Returns lines about those that have
    /// failed, and about the recordings.
    func close() -> [String] {
        monitors.flatMap { monitor in
            let end = Result { () throws(RadioError) in try monitor.session.wait() }
            let notices = monitor.channel.recording?.close() ?? []
            guard case .failure(let error) = end else { return notices }
            return notices + ["\(monitor.channel.name): \(error)"]
        }
    }

    // MARK: The user's keys

    /// Gives the microphone to the monitored channel that was heard last, or takes it back to the first session. Returns
    /// the line for the user.
    func answer(at now: Instant = MonotonicClock.now) -> String {
        let ages = monitors.indices.compactMap { index in monitors[index].activity.age(at: now).map { (index, $0) } }
        let latest = ages.min { $0.1 < $1.1 }.flatMap { $0.1 <= Self.answerTime ? $0.0 + 1 : nil }
        let owner = microphone.owner
        guard let latest, latest != owner else {
            guard owner > 0 else {
                return "no monitored channel was heard within \(Int(Self.answerTime / .seconds(1))) s"
            }
            return give(to: 0)
        }
        let channel = monitors[latest - 1].channel
        if let obstacle = channel.obstacle { return "\(channel.name) cannot be answered: \(obstacle)" }
        return give(to: latest)
    }

    private func give(to owner: Int) -> String {
        microphone.give(to: owner)
        return ownerLine(owner)
    }

    /// Returns the line about the channel that the microphone now belongs to.
    private func ownerLine(_ owner: Int) -> String {
        toldOwner = owner
        return owner == 0
            ? "talking in \(microphone.channels[0].name) again"
            : "talking in \(monitors[owner - 1].channel.name) now; a returns"
    }

    /// Returns the lines about who is in the monitored channels. `mark` returns the number and the volume of a talker in
    /// a session.
    func peopleLines(marking mark: (SSRC, Int) -> PersonMark) -> [String] {
        monitors.enumerated().flatMap { index, monitor in
            monitor.observer.peopleLines { mark($0, index + 1) }.map { "\(monitor.channel.name): \($0)" }
        }
    }

    /// Returns the talkers of all sessions, first those of `home`.
    func talkers(_ home: SessionObserver) -> [ListedTalker] {
        ([home] + monitors.map(\.observer)).enumerated().flatMap { index, observer in
            let hasOwner = observer.session.snapshot?.managed != nil
            return observer.talkers.map { talker in
                ListedTalker(
                    place: .init(session: index, ssrc: talker.ssrc), name: talker.name,
                    keptName: observer.names.statedName(of: talker.ssrc, isSigned: hasOwner))
            }
        }
    }

    /// Mutes the speaker, or turns it on again. Returns whether it is muted.
    func toggleMute() -> Bool {
        let isMuted = !home.isSpeakerMuted
        for session in microphone.sessions { session.isSpeakerMuted = isMuted }
        return isMuted
    }

    /// Plays again what was said in the channel that was heard last, or ends the replay that plays.
    func replay(_ range: ReplayRange) {
        let isPlaying = microphone.sessions.contains(where: \.isReplaying)
        microphone.stopReplays()
        if isPlaying, range == .lastTransmission { return }
        microphone.heard.replay(range)
    }

    // MARK: What is heard

    /// Returns the lines about what has happened in the monitored channels since the last call, and lowers those that are
    /// to be in the background.
    func takeLines(isLast: Bool = false) -> [String] {
        let heard = microphone.sessions.map { session in
            session.snapshot?.talkers.contains { $0.isHeard && $0.level > .floor } ?? false
        }
        update(heard: heard, at: MonotonicClock.now)
        let owner = microphone.owner
        // A process may have given the microphone away through the control socket.
        var lines = owner == toldOwner ? [] : [ownerLine(owner)]
        for monitor in monitors { lines += takeLines(of: monitor, isLast: isLast) }
        return lines
    }

    private func takeLines(of monitor: Monitor, isLast: Bool) -> [String] {
        var lines = monitor.observer.takeLines(isLast: isLast)
        if let snapshot = monitor.session.snapshot { lines += monitor.observer.update(with: snapshot) }
        monitor.channel.recording?.update(monitor.observer.names)
        lines += monitor.channel.recording?.takeNotices() ?? []
        return lines.map { "\(monitor.channel.name): \($0)" }
    }

    /// Decides what is lowered. `heard` says of each session whether somebody is heard there.
    func update(heard: [Bool], at now: Instant) {
        guard hasMonitors else { return }
        homeActivity.update(isHeard: heard[0], at: now)
        for (monitor, isHeard) in zip(monitors, heard.dropFirst()) {
            monitor.activity.update(isHeard: isHeard, at: now)
        }
        let ages = ([homeActivity] + monitors.map(\.activity)).enumerated().compactMap { index, activity in
            activity.age(at: now).map { (index, $0) }
        }
        if let latest = ages.min(by: { $0.1 < $1.1 }) { microphone.setHeard(latest.0) }
        let hasPriority =
            homeActivity.isCurrent(at: now)
            || monitors.contains { !$0.channel.ducks && $0.activity.isCurrent(at: now) }
        for monitor in monitors {
            monitor.session.background = monitor.channel.ducks && hasPriority ? .ducked : .none
        }
    }
}
