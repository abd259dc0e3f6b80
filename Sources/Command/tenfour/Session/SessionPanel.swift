import TenfourAudioCore
import TenfourCallQuality
import TenfourJSON
import TenfourPackets
import TenfourPushToTalk
import TenfourRadio
import TenfourSession
import TenfourSystem

/// Answers the commands of `ControlCommand`, which come from programs at the control socket.
final class SessionPanel: SessionControl {
    private let microphone: SharedMicrophone
    private let volumes: VolumeControl
    private let published = Locked(Published())

    /// The state that the terminal's thread has published last.
    private struct Published {
        var state = JSON.object([])
        var talkers: [ListedTalker] = []
    }

    private var session: RadioSession { microphone.sessions[0] }

    init(_ microphone: SharedMicrophone, _ volumes: VolumeControl) {
        self.microphone = microphone
        self.volumes = volumes
    }

    func answer(_ request: ControlRequest) -> JSON? {
        do throws(ControlCommand.Refusal) {
            return try ControlCommand(request).map { command throws(ControlCommand.Refusal) in try answer(command) }
        } catch {
            return error.json
        }
    }

    private func answer(_ command: ControlCommand) throws(ControlCommand.Refusal) -> JSON {
        switch command {
        case .state: return published.withLock(\.state)
        case .mute(let isMuted, nil):
            for session in microphone.sessions { session.isSpeakerMuted = isMuted }
            return .object([("muted", .boolean(isMuted))])
        case .mute(let isMuted, let name?):
            let talker = try talker(name)
            volumes.setMuted(isMuted, talker.place)
            return json(talker)
        case .volume(nil, nil): return volumeJSON
        case .volume(let decibels?, nil):
            volumes.overall = decibels
            return volumeJSON
        case .volume(let decibels, let name?):
            let talker = try talker(name)
            if let decibels { volumes.setVolume(decibels, of: talker.place) }
            return json(talker)
        case .channel(let name):
            if let name { try give(to: name) }
            return channelJSON
        case .replay(let part):
            guard session.canReplay else { throw .init("this session keeps no history, or plays on no card") }
            // One replay is heard at a time: that of the channel that was heard last.
            microphone.stopReplays()
            microphone.heard.replay(part == .minute ? .lastMinute : .lastTransmission)
            return .object([("replay", .boolean(true))])
        case .stopReplay:
            microphone.stopReplays()
            return .object([("replay", .boolean(false))])
        }
    }

    // MARK: Volumes

    /// Returns the talker with this id or name. The id comes first, so that nobody takes its place by a name.
    private func talker(_ name: String) throws(ControlCommand.Refusal) -> ListedTalker {
        let talkers = published.withLock(\.talkers)
        if let talker = talkers.first(where: { $0.id == name }) { return talker }
        let named = talkers.filter { $0.name == name }
        guard let talker = named.first else {
            throw .init(#"there is no such talker: { "command": "volume" } lists those who are here"#)
        }
        guard named.count == 1 else {
            throw .init(#"several talkers have this name: write the id of one from { "command": "volume" }"#)
        }
        return talker
    }

    private func members(_ talker: ListedTalker) -> [(String, JSON)] {
        [
            ("id", .text(talker.id)), ("name", .text(talker.name)),
            ("volume", .decimal(volumes.volume(of: talker.place), places: 1)),
            ("muted", .boolean(volumes.isMuted(talker.place))),
        ]
    }

    private func json(_ talker: ListedTalker) -> JSON {
        .object(members(talker) + [("channel", .text(microphone.channels[talker.place.session].name))])
    }

    private var volumeJSON: JSON {
        let talkers = published.withLock(\.talkers).prefix(Self.mostTalkers)
        return .object([
            ("volume", .decimal(volumes.overall, places: 1)), ("muted", .boolean(session.isSpeakerMuted)),
            ("talkers", .list(talkers.map(json))),
        ])
    }

    /// The number of talkers in an answer, so that it fits into the buffer of a client that reads slowly.
    private static let mostTalkers = 100

    // MARK: Channels

    private func give(to name: String) throws(ControlCommand.Refusal) {
        guard let index = microphone.channels.firstIndex(where: { $0.name == name }) else {
            throw .init(#"there is no such channel: { "command": "channel" } lists them"#)
        }
        if let obstacle = microphone.channels[index].obstacle {
            throw .init("this channel cannot be answered: \(obstacle)")
        }
        microphone.give(to: index)
    }

    private var channelJSON: JSON {
        let channels = microphone.channels.map { channel in
            JSON.object([("name", .text(channel.name)), ("talk", .boolean(channel.obstacle == nil))])
        }
        return .object([("channel", .text(ownerName)), ("channels", .list(channels))])
    }

    private var ownerName: String { microphone.channels[microphone.owner].name }

    // MARK: The state

    /// Publishes the state. `talkers` are those of all channels.
    func update(_ snapshot: RadioSnapshot, _ observer: SessionObserver, _ talkers: [ListedTalker]) {
        let people = People(snapshot, isChannel: observer.channelStatus.isChannel)
        let heard = snapshot.talkers.filter { $0.endpoint != nil }.map { talker in
            let recent = observer.monitor.recent(talker.ssrc)
            let listed = ListedTalker(place: .init(session: 0, ssrc: talker.ssrc), name: observer.names[talker.ssrc])
            return JSON.object(
                members(listed) + [
                    ("heard", .boolean(talker.isHeard)),
                    ("level", .decimal(Double(talker.level.decibels), places: 1)),
                    ("lost", .decimal(recent.lostShare, places: 4)), ("score", .decimal(recent.score, places: 2)),
                ])
        }
        let advice = observer.capturesMicrophone ? snapshot.capture?.levelAdvice : nil
        let state = JSON.object([
            ("reached", .boolean(observer.channelStatus.isReached)), ("channel", .text(ownerName)),
            ("microphone", .text(microphone.isOpen ? "open" : "closed")),
            ("advice", advice.map { .text($0.words) } ?? .null),
            ("volume", .decimal(volumes.overall, places: 1)),
            ("muted", .boolean(session.isSpeakerMuted)),
            ("replay", .boolean(microphone.sessions.contains(where: \.isReplaying))),
            ("here", .integer(people?.count ?? 0)), ("talkers", .list(heard)),
            ("hearing", .list(snapshot.hearings.map { $0.json(observer.names) })),
            ("members", snapshot.memberCount.map { .integer($0) } ?? .null),
            ("elapsed", .decimal(snapshot.elapsed / .seconds(1), places: 1)),
        ])
        published.withLock { $0 = Published(state: state, talkers: talkers) }
    }
}

extension Hearing {
    fileprivate func json(_ names: TalkerNames) -> JSON {
        .object([
            ("id", ssrc.map { .text($0.digits) } ?? .null), ("name", .text(name(names))),
            ("state", .text(state.name)),
        ])
    }
}

extension ListedTalker {
    /// The identifier of a talker for programs: the SSRC. In two channels a talker has two.
    fileprivate var id: String { place.ssrc.digits }
}
