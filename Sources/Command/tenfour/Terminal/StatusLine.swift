import TenfourAudioCore
import TenfourCallQuality
import TenfourChannelMember
import TenfourCommandSupport
import TenfourJitterBuffer
import TenfourPackets
import TenfourPlayer
import TenfourRadio
import TenfourSession
import TenfourUV
import TenfourWaveform

/// The status line of a session, redrawn in place, with optional level meters and the waveform of what is sent above it.
struct StatusLine {
    private var screen = LiveLines()
    private let levels: Bool
    private var ownLevel = LevelView(name: "you")
    private var heardLevel = LevelView(name: "heard")
    /// Whether rate, pitch and lag are shown.
    private let showsTimePitch: Bool
    private var rate = SentRate()
    private var ownMeter = Meter()
    private var meters: [SSRC: Meter] = [:]
    private var failureCount = 0
    /// Whether the session has exactly one partner.
    private let hasPartner: Bool
    /// Whether the partner has answered a call.
    private let hasAnswered: Bool
    /// Whether nothing has come from the partner, or it was here and has left.
    private var isUnanswered = true
    private var wasHere = false
    /// Whether received audio goes to a card.
    private let playsOnCard: Bool
    private let panel: WaveformPanel?
    private var voices = TalkingChanges()
    /// The fields that were drawn last, and the line that a person was typing in their place.
    private var drawn = StatusFields()
    private var isTyping = false

    init(
        levels: Bool = false, timePitch: Bool = false, hasPartner: Bool = false, hasAnswered: Bool = false,
        playsOnCard: Bool = true, panel: WaveformPanel? = nil
    ) {
        self.panel = panel
        self.levels = levels
        showsTimePitch = timePitch
        self.hasPartner = hasPartner
        self.hasAnswered = hasAnswered
        self.playsOnCard = playsOnCard
    }

    mutating func draw(
        _ snapshot: RadioSnapshot, _ observer: SessionObserver, _ stops: ProcessStopMonitor,
        _ volumes: VolumeView, answering: (channel: String, RadioSession)? = nil, playing streamer: Streamer? = nil
    ) {
        let (fields, typed) = (fields(snapshot, observer, stops, volumes, answering, streamer), panel?.typed)
        screen.draw(
            levelViews(snapshot), beneath: { panel?.lines(width: $0) ?? [] },
            status: { width, lineCount in
                typed.map { [$0.cut(toColumns: width)] }
                    ?? fields.layout(width: width, lineCount: lineCount).lines(coloured: Terminal.takesColours)
            })
        (drawn, isTyping) = (fields, typed != nil)
    }

    /// Returns whether the line that was drawn last has room for a field of this kind.
    func hasRoom(for role: StatusFields.Role) -> Bool {
        guard !isTyping else { return false }
        var fields = drawn
        if role == .mute { fields.setMute(true) }
        return screen.layout(of: fields).roles.contains(role)
    }

    /// Returns the whole line as text.
    mutating func text(
        _ snapshot: RadioSnapshot, _ observer: SessionObserver, _ stops: ProcessStopMonitor,
        _ volumes: VolumeView, answering: (channel: String, RadioSession)? = nil, playing streamer: Streamer? = nil
    ) -> String { fields(snapshot, observer, stops, volumes, answering, streamer).text(width: .max) }

    /// Returns the fields of the line.
    mutating func fields(
        _ snapshot: RadioSnapshot, _ observer: SessionObserver, _ stops: ProcessStopMonitor, _ volumes: VolumeView,
        _ answering: (channel: String, RadioSession)? = nil, _ streamer: Streamer? = nil
    ) -> StatusFields {
        let (session, names) = (observer.session, observer.names)
        let channelStatus = observer.channelStatus
        var fields =
            streamer.map { PlayStatusLine.fields($0.state, $0.progress, hasBar: panel?.isShown != true) }
            ?? StatusFields()
        let (talking, own) =
            answering.flatMap { answered in answered.1.snapshot.map { (answered.1, $0) } } ?? (session, snapshot)
        if let latest = volumes.latest { fields.addPart(latest, role: .volumeChange) }
        if let answering { fields.addPart("to \(name: answering.channel)", rank: StatusFields.talking) }
        if !channelStatus.isReached { fields.addPart("not in the channel", rank: StatusFields.alert) }
        if let managed = snapshot.managed { add(managed, to: &fields) }
        if let clock = snapshot.relayClock, clock.magnitude >= ClockDifference.reported {
            fields.addPart(
                "clock \(ClockWords.offset(clock.ahead)) the relay's", short: "clock!", rank: StatusFields.alert)
        }
        if snapshot.interferenceCount > 0 {
            fields.addPart(
                "interference (\(snapshot.interferenceCount))", short: "interference",
                rank: StatusFields.alert)
        }
        if let relay = channelStatus.relayName { fields.addPart("through \(name: relay)", rank: 9) }
        if let capture = own.capture { addOwn(capture, own, talking, observer, to: &fields) }
        if let floor = own.floor, let part = floor.part(names) {
            fields.addPart(part.text, short: part.short, rank: part.rank)
        }
        let receivedCount = snapshot.network.received - snapshot.discards.total - snapshot.unopenedCount
        // Packets come before the first report, which tells who sends them.
        isUnanswered = receivedCount <= 0 && !hasAnswered || wasHere
        if let playback = snapshot.playback {
            let people = People(snapshot, isChannel: channelStatus.isChannel)
            _ = voices.update(TalkingChanges.heard(in: snapshot), at: snapshot.elapsed)
            addOthers(playback, snapshot, people, session, observer, volumes, to: &fields)
            if !stops.isRecent(), !playback.isCardLost {
                addMissing(observer.monitor.heard.recent.unplayedShare, to: &fields)
            }
        }
        return fields
    }

    mutating func clear() { screen.clear() }

    /// Adds that there is no secret, or its age if somebody may withhold a newer one.
    private func add(_ managed: RadioSnapshot.ManagedSnapshot, to fields: inout StatusFields) {
        guard let age = managed.secretAge else {
            return fields.addPart("waiting for the secret", rank: StatusFields.alert)
        }
        guard age >= Self.oldSecretAge else { return }
        fields.addPart("secret \(age / .seconds(3_600)) h old", rank: StatusFields.alert)
    }

    /// The age from which the age of a group secret is shown: it is usually at most an hour.
    private static let oldSecretAge = Duration.seconds(7_200)

    private mutating func levelViews(_ snapshot: RadioSnapshot) -> [LevelView] {
        guard levels else { return [] }
        if let levelHistory = snapshot.capture?.levelHistory { ownLevel.append(levelHistory) }
        if let levelHistory = snapshot.playback?.levelHistory { heardLevel.append(levelHistory) }
        return (snapshot.capture != nil ? [ownLevel] : []) + (snapshot.playback != nil ? [heardLevel] : [])
    }

    /// Adds the state of our stream, such as `ON AIR -12 dBFS 31.9 kbit/s`, the receiver's reports about it, and
    /// network errors.
    private mutating func addOwn(
        _ capture: RadioSnapshot.CaptureSnapshot, _ snapshot: RadioSnapshot, _ session: RadioSession,
        _ observer: SessionObserver, to fields: inout StatusFields
    ) {
        let channelStatus = observer.channelStatus
        let level = ownMeter.show(capture.level)
        rate.update(snapshot, of: session)
        let hasEnded = session.hasInputEnded
        let isSilent = hasEnded || snapshot.playback != nil && !session.isMicrophoneOpen
        let act: (StatusText, StatusText) = channelStatus.isReached ? ("sending", "ON AIR") : ("waiting", "mic open")
        if hasEnded {
            fields.addPart("nothing more is sent", short: "ended", rank: StatusFields.essential)
        } else {
            let state: StatusText = isSilent ? "mic closed" : snapshot.playback == nil ? act.0 : act.1
            fields.addPart(state, short: isSilent ? "mic off" : nil, rank: StatusFields.essential)
            if !isSilent, let heard = HearingSummary(snapshot.hearings, isSample: snapshot.asksSample) {
                fields.add("\(heard.text)", short: heard.short, rank: StatusFields.essential, tone: heard.tone)
            }
            fields.add("\(level)", rank: 4)
        }
        if !isSilent, observer.capturesMicrophone, let advice = capture.levelAdvice {
            fields.add("mic \(advice.words)")
        }
        if !isSilent, channelStatus.isReached { fields.add("\(decimal(rate.kilobits, places: 1)) kbit/s", rank: 8) }
        if let view = snapshot.sendStream.lastReceiverView { addView(view, to: &fields) }
        if snapshot.network.failed > failureCount, let failure = snapshot.network.lastFailure {
            fields.addPart("\(failure)", rank: StatusFields.alert)
        }
        failureCount = snapshot.network.failed
        if capture.isCardLost { fields.addPart("CAPTURE CARD LOST", rank: StatusFields.alert) }
    }

    /// Adds the other end's reports: loss, skipped audio and round-trip time.
    private func addView(_ view: ReceiverView, to fields: inout StatusFields) {
        if view.lossShare > 0 {
            fields.addPart("the other end loses \(decimal(view.lossShare * 100, places: 1))%", rank: 1)
        }
        if let missing = view.discardShare, missing > 0 {
            fields.addPart("the other end's card skips \(decimal(missing * 100, places: 1))%", rank: 1)
        }
        if let roundTrip = view.roundTrip, roundTrip >= .milliseconds(1) {
            fields.add("RTT \(decimal(roundTrip / .milliseconds(1), places: 0)) ms", rank: 7)
        }
    }

    /// Adds the members and talkers who are present, with the quality of the received audio.
    private mutating func addOthers(
        _ playback: RadioSnapshot.PlaybackSnapshot, _ snapshot: RadioSnapshot, _ people: People?,
        _ session: RadioSession, _ observer: SessionObserver, _ volumes: VolumeView, to fields: inout StatusFields
    ) {
        let (names, channelStatus) = (observer.names, observer.channelStatus)
        let present = snapshot.talkers.filter { $0.endpoint != nil }
        let missing = Set(snapshot.participants.filter(\.isMissing).map(\.ssrc))
        let isKnown = channelStatus.isReached && addPeople(people, channelStatus, to: &fields)
        // One who talks is named at every width, and of the others as many as there is room for.
        let first = present.first { voices.contains($0.ssrc) } ?? present.first
        for talker in present {
            let isFirst = talker.ssrc == first?.ssrc
            let rank = isFirst ? StatusFields.essential : voices.contains(talker.ssrc) ? StatusFields.talking : 0
            fields.addPart("\(names.text(of: talker.ssrc))", rank: rank, role: .talker)
            if missing.contains(talker.ssrc) { fields.add("not arriving", rank: rank, tone: .bad) }
            if let volume = volumes.talker(talker.ssrc) {
                fields.add("\(volume.text)", rank: volume.isMuted ? session.isSpeakerMuted ? 0 : rank : 2)
            }
            fields.add("\(meters[talker.ssrc, default: Meter()].show(talker.level))", rank: 4)
            if talker.looksEncrypted {
                fields.add("looks encrypted")
            } else {
                add(observer.monitor.recent(talker.ssrc), talker.playout, to: &fields)
            }
        }
        meters = meters.filter { meter in present.contains { $0.ssrc == meter.key } }
        if !present.isEmpty || isKnown {
            wasHere = true
        } else {
            let isAsked = hasPartner && !channelStatus.isChannel && isUnanswered
            fields.addPart(
                isAsked ? "nobody answers" : names.isEmpty ? "nobody is heard yet" : "nobody is heard",
                short: "nobody", rank: StatusFields.essential)
        }
        if showsTimePitch {
            fields.addPart("rate \(decimal(session.rate, places: 2))")
            if session.pitch != 0 { fields.add("pitch \(decimal(session.pitch, places: 0))", rank: 3) }
            fields.add("behind \(decimal(session.lag / .seconds(1), places: 1)) s", rank: 2)
        }
        if session.isReplaying { fields.addPart("replay") }
        fields.setMute(session.isSpeakerMuted)
        if !session.isSpeakerMuted, let volume = volumes.overall {
            fields.addPart("\(volume)", rank: 2)
        }
        if playback.isCardLost { fields.addPart("PLAYBACK CARD LOST", rank: StatusFields.alert) }
    }

    /// Adds a warning with `share`, the proportion (0…1) of audio that the card or the machine skipped.
    private func addMissing(_ share: Double?, to fields: inout StatusFields) {
        guard let missing = percent(share) else { return }
        fields.addPart(
            playsOnCard ? "the card skips \(missing): try -F 20ms" : "\(missing) not written: this machine is too slow",
            rank: StatusFields.alert)
    }

    /// Adds a field such as `2 here: Anna (open), Ben`. Returns whether the members are known.
    private func addPeople(_ people: People?, _ channelStatus: ChannelStatus, to fields: inout StatusFields) -> Bool {
        guard let people, channelStatus.isChannel || people.count > 0 else { return false }
        // Adds nothing if the only other talker has an open microphone, since the fields for talkers show this talker.
        guard channelStatus.isChannel || people.hasSilent else { return true }
        fields.addPart("\(people.head)", rank: StatusFields.talking)
        if !people.names.isEmpty { fields.add(people.names, rank: 6, after: ": ") }
        return true
    }

    /// Adds `loss 5.2% x1.4  late 0.3%  PLC 2.1%  FEC 3.1%  RED 2.0%  NACK 1.0%  delay 33→40 ms  +12 ppm  score 3.9`,
    /// without zero values.
    private func add(_ recent: QualitySummary, _ now: PlayoutStatistics, to fields: inout StatusFields) {
        if let loss = percent(recent.lostShare) { fields.add("loss \(loss)") }
        if let burst = recent.burstLength { fields.add("x\(decimal(burst, places: 1))", rank: 6, after: " ") }
        if let late = percent(recent.lateShare) { fields.add("late \(late)", rank: 5) }
        if let concealed = percent(recent.concealedShare) { fields.add("PLC \(concealed)", rank: 2) }
        if let recovered = percent(recent.recoveredByFECShare) { fields.add("FEC \(recovered)", rank: 3) }
        if let copied = percent(recent.recoveredByCopyShare) { fields.add("RED \(copied)", rank: 3) }
        if let retransmitted = percent(recent.recoveredByRetransmissionShare) {
            fields.add("NACK \(retransmitted)", rank: 3)
        }
        let delay = decimal(now.delay.duration() / .milliseconds(1), places: 0)
        let target = decimal(now.target.duration() / .milliseconds(1), places: 0)
        fields.add("delay \(delay)")
        if target != delay { fields.add("→\(target)", rank: 9, after: "") }
        fields.add("ms", after: " ")
        let drift = decimal(Double(now.driftPartsPerMillion), places: 0)
        if drift != "0" { fields.add("\(drift.hasPrefix("-") ? "" : "+")\(drift) ppm", rank: 10) }
        if let score = recent.score { fields.add("score \(decimal(score, places: 1))", rank: 1) }
    }

    /// Formats `share`, a proportion of 0…1, as percent. Returns nil if it rounds to zero.
    private func percent(_ share: Double?) -> String? {
        share.flatMap { $0 >= 0.0005 ? decimal($0 * 100, places: 1) + "%" : nil }
    }
}
