import TenfourAudioCore
import TenfourChannelMember
import TenfourCommandSupport
import TenfourPackets
import TenfourRadio
import TenfourSession

/// What the user is told about one session: lines about its events, its talkers' names and their quality. Use it on one
/// thread.
final class SessionObserver {
    let session: RadioSession
    private(set) var names = TalkerNames()
    private(set) var monitor: QualityMonitor
    private(set) var channelStatus: ChannelStatus
    /// Whether a person talks into a card, who can follow advice about the level.
    let capturesMicrophone: Bool

    /// Tells programs at the control socket what happens; nil if none can be there.
    var events: ControlEvents?

    /// The channel's saved link, which gets the other station's name; nil if it has a name.
    var namelessPair: NamelessPair?

    private let verbose: Bool
    /// The other end, as the first message names it.
    private let partner: String
    /// Plays the tones about other stations; nil for a session without a microphone.
    private let microphone: MicrophoneKeys?
    private var strangers: StrangerNotices
    private var cards: CardNotices
    private var who: WhoIsHere
    /// Nil if a status line shows who talks.
    private var talking: TalkingNotices?
    private var levelNotices = LevelNotices()
    private var hearing = HearingNotices()
    /// Nil for a session to which the hint does not apply.
    private var nobody: NobodyHint?
    private var hasReportedOtherKeys = false
    /// What is sent, if it is a file whose end is to be reported; nil if there is none, or it was reported.
    private var inputName: String?

    /// The number of undecryptable packets above which a notice reports them. Up to this number are ignored, since stray
    /// datagrams may reach any port.
    private static let toleratedCount = 10

    /// If `keepsSeconds` is true, the figures of each second are kept for a report. With `tellsTalkers`, lines tell who
    /// begins to talk and who stops, and when the microphone opens and closes.
    init(
        _ session: RadioSession, _ configuration: RadioConfiguration, partner: String = "",
        microphone: MicrophoneKeys?, verbose: Bool, keepsSeconds: Bool, tellsTalkers: Bool = false
    ) {
        self.session = session
        self.partner = partner
        self.verbose = verbose
        self.microphone = microphone
        monitor = QualityMonitor(keepsSeconds: keepsSeconds, coding: configuration.coding)
        channelStatus = ChannelStatus(configuration)
        strangers = StrangerNotices(remotes: configuration.rtpSession.remotes)
        cards = CardNotices(configuration)
        nobody = NobodyHint(configuration)
        who = WhoIsHere(isChannel: channelStatus.isChannel)
        talking = tellsTalkers ? TalkingNotices() : nil
        inputName = microphone == nil ? nil : configuration.inputName
        capturesMicrophone = microphone != nil && configuration.capturesCard
    }

    /// Returns the lines about what has happened since the last call. `isLast` is true for the last call.
    func takeLines(isLast: Bool = false) -> [String] {
        var lines = session.takeCardChanges()
        for event in session.takeChannelEvents() {
            lines += apply(event)
            if let line = namelessPair?.line(for: event) { lines.append(line) }
        }
        for event in session.takeEvents() {
            if !channelStatus.isChannel { microphone?.playTone(of: event) }
            lines += apply(event)
        }
        if let summary = strangers.summary(at: .now, isOver: isLast) { lines.append(summary) }
        lines += session.takeReplayEvents().compactMap(Self.line)
        if let name = inputName, session.hasInputEnded {
            inputName = nil
            microphone?.inputEnded()
            lines.append("\(name) has ended: nothing more is sent, listening continues")
        }
        return lines
    }

    /// Takes over the state of the session. Returns the lines about troubles that are new.
    func update(with snapshot: RadioSnapshot) -> [String] {
        monitor.update(with: snapshot)
        events?.update(snapshot, names)
        hearing.update(snapshot.hearings)
        var lines = cards.newNotices(in: snapshot)
        let hasOtherKey = snapshot.unopenedRemoteCount > 0 && snapshot.participants.isEmpty
        if !hasReportedOtherKeys, snapshot.talkers.isEmpty,
            hasOtherKey || snapshot.unopenedCount > Self.toleratedCount
        {
            hasReportedOtherKeys = true
            lines.append(NobodyHint.otherKey)
        }
        if let line = nobody?.line(snapshot, port: session.localEndpoint.port),
            line != NobodyHint.otherKey || !hasReportedOtherKeys
        {
            hasReportedOtherKeys = hasReportedOtherKeys || line == NobodyHint.otherKey
            lines.append(line)
        }
        let isOpen = microphone == nil ? nil : session.isMicrophoneOpen as Bool?
        guard talking != nil else { return lines }
        lines += talking?.lines(snapshot, names, isOpen: isOpen) ?? []
        if let isOpen, capturesMicrophone {
            lines += levelNotices.lines(about: snapshot.capture?.levelAdvice, isOpen: isOpen)
        }
        return lines
    }

    /// The talkers who are here: first those of `People` in the order of its lines, then those who are heard and are on no
    /// list.
    var talkers: [(ssrc: SSRC, name: String)] { listedTalkers + otherTalkers }

    private var listedTalkers: [(ssrc: SSRC, name: String)] {
        session.snapshot.flatMap { People($0, isChannel: channelStatus.isChannel)?.talkers } ?? []
    }

    private var otherTalkers: [(ssrc: SSRC, name: String)] {
        let listed = Set(listedTalkers.map(\.ssrc))
        let present = session.snapshot?.talkers.filter { $0.endpoint != nil && !listed.contains($0.ssrc) } ?? []
        return present.map { ($0.ssrc, names[$0.ssrc]) }
    }

    /// Returns the lines about who is here. The names of a channel's listeners come later, with `takeLines`. `mark`
    /// returns the number and the volume of a talker.
    func peopleLines(marking mark: (SSRC) -> PersonMark) -> [String] {
        who.lines(session, isReached: channelStatus.isReached, others: otherTalkers, marking: mark)
    }

    private func apply(_ event: ChannelEvent) -> [String] {
        microphone?.playTone(of: event)
        let notice = channelStatus.memberNotice(for: event, verbose: verbose)
        channelStatus.apply(event)
        monitor.record(event)
        names.apply(event)
        events?.apply(event)
        let line =
            notice
            ?? channelStatus.notice(for: event, names, talker: session.snapshot?.floor?.talker, verbose: verbose)
        return line.map { [$0] } ?? who.lines(of: event)
    }

    /// Takes over what has happened in the session. Returns the lines about it.
    func apply(_ event: Event) -> [String] {
        monitor.record(event)
        if case .hearingChanged(let hearing) = event, hearing.state == .refused { nobody?.isTold() }
        let line =
            channelStatus.explains(event)
            ? nil
            : hearing.line(for: event, names, isSample: session.snapshot?.asksSample ?? false)
                ?? EventNotice(names: names, channelStatus: channelStatus, verbose: verbose).line(for: event)
        let isShown = line != nil && strangers.mayShow(event, names, at: .now)
        events?.left(event, names)
        events?.heard(event, names)
        names.apply(event)
        if isShown, !event.isListed(by: channelStatus) { events?.joined(event, names) }
        return isShown && !isTold(event) ? [line].compactMap { $0 } : []
    }

    /// Whether the event is only that the partner is there whose name and address the first message has told.
    private func isTold(_ event: Event) -> Bool {
        guard case .reporterAppeared(_, let name?, let endpoint) = event else { return false }
        return LobbyDialogue.text(of: endpoint, name) == partner
    }

    private static func line(_ event: ReplayEvent) -> String? {
        switch event {
        case .began(let count, let duration):
            "playing \(count == 1 ? "one transmission" : "\(count) transmissions"), \(decimal(duration / .seconds(1), places: 0)) s; r stops it"
        case .nothing: "nobody was heard in this time"
        case .ended: nil
        }
    }
}

extension Event {
    /// Whether it is about a source that a relay lists. The relay tells when such a member joins and leaves.
    fileprivate func isListed(by channelStatus: ChannelStatus) -> Bool {
        switch self {
        case .sourceAppeared(let ssrc, _), .reporterAppeared(let ssrc, _, _): channelStatus.lists(ssrc)
        default: false
        }
    }
}

extension RadioConfiguration {
    fileprivate var capturesCard: Bool { if case .card = input { true } else { false } }

    /// What is sent, for messages.
    fileprivate var inputName: String {
        switch input {
        case .file(let path, _) where path != "-": path
        case .sound(let input): input.name.flatMap { $0 == "-" ? nil : Secrets.shown($0) } ?? "the input"
        default: "the input"
        }
    }
}
