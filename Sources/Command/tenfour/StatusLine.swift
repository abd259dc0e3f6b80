import TenfourAudioCore
import TenfourCallQuality
import TenfourCommandSupport
import TenfourJitterBuffer
import TenfourPackets
import TenfourPlayer
import TenfourRadio
import TenfourSession
import TenfourUV
import TenfourWaveform

/// One line that tells how it goes, drawn over itself, and above it how loud it is where that is wanted.
struct StatusLine {
    private var screen = LiveLines()
    private let levels: Bool
    private var ownLevel = LevelView(name: "you")
    private var heardLevel = LevelView(name: "heard")
    /// How fast and how high what is heard goes, and how far behind.
    private let showsTimePitch: Bool
    private var rate = SentRate()
    private var ownMeter = Meter()
    private var meters: [SSRC: Meter] = [:]
    private var failureCount = 0
    /// Whether there is one whom we talk with, and nobody else.
    private let hasPartner: Bool
    /// Whether what is heard goes to a card, and not only to a file.
    private let playsOnCard: Bool

    init(levels: Bool = false, timePitch: Bool = false, hasPartner: Bool = false, playsOnCard: Bool = true) {
        self.levels = levels
        showsTimePitch = timePitch
        self.hasPartner = hasPartner
        self.playsOnCard = playsOnCard
    }

    mutating func draw(
        _ snapshot: RadioSnapshot, _ session: RadioSession, _ names: Names, _ watch: QualityMonitor,
        _ standing: ChannelStanding, _ stops: StopWatch, playing streamer: Streamer? = nil
    ) {
        var fields = streamer.map { PlayLine.fields($0.state, $0.progress) } ?? StatusFields()
        if !standing.isReached { fields.addPart("not in the channel") }
        if let capture = snapshot.capture { addOwn(capture, snapshot, session, standing, to: &fields) }
        if let playback = snapshot.playback {
            let people = People(snapshot, isChannel: standing.isChannel)
            addOthers(playback, snapshot.voices, people, session, names, watch, standing, to: &fields)
            if !stops.isRecent(), !playback.isCardLost { addMissing(watch.heard.recent.missingShare, to: &fields) }
        }
        screen.draw(levelViews(snapshot)) { fields.text(width: $0) }
    }

    mutating func clear() { screen.clear() }

    private mutating func levelViews(_ snapshot: RadioSnapshot) -> [LevelView] {
        guard levels else { return [] }
        if let trail = snapshot.capture?.trail { ownLevel.take(trail) }
        if let trail = snapshot.playback?.trail { heardLevel.take(trail) }
        return (snapshot.capture != nil ? [ownLevel] : []) + (snapshot.playback != nil ? [heardLevel] : [])
    }

    /// `ON AIR  -12 dBFS  31.9 kbit/s`, how it arrives, and what keeps it from arriving.
    private mutating func addOwn(
        _ capture: RadioSnapshot.CaptureSnapshot, _ snapshot: RadioSnapshot, _ session: RadioSession,
        _ standing: ChannelStanding, to fields: inout StatusFields
    ) {
        let level = ownMeter.show(capture.level)
        rate.update(snapshot)
        let isSilent = snapshot.playback != nil && !session.isMicrophoneOpen
        let act = standing.isReached ? ("sending", "ON AIR") : ("waiting", "mic open")
        fields.addPart(isSilent ? "mic closed" : snapshot.playback == nil ? act.0 : act.1)
        fields.add(level, rank: 4)
        if !isSilent, standing.isReached { fields.add("\(decimal(rate.kilobits, places: 1)) kbit/s", rank: 8) }
        if let view = snapshot.sendStream.lastReceiverView { addView(view, to: &fields) }
        if snapshot.network.failed > failureCount, let failure = snapshot.network.lastFailure {
            fields.addPart("\(failure)", rank: StatusFields.alert)
        }
        failureCount = snapshot.network.failed
        if capture.isCardLost { fields.addPart("CAPTURE CARD LOST", rank: StatusFields.alert) }
    }

    /// `there  loss 5 %  40 ms there and back`: the other end's reports.
    private func addView(_ view: ReceiverView, to fields: inout StatusFields) {
        if view.lossShare > 0 {
            fields.addPart("the other end loses \(decimal(view.lossShare * 100, places: 0)) %", rank: 1)
        }
        if let missing = view.discardShare, missing > 0 {
            fields.addPart("the other end's card skips \(decimal(missing * 100, places: 0)) %", rank: 1)
        }
        if let roundTrip = view.roundTrip, roundTrip >= .milliseconds(1) {
            fields.add("RTT \(decimal(roundTrip / .milliseconds(1), places: 0)) ms", rank: 7)
        }
    }

    /// Each who is there.
    private mutating func addOthers(
        _ playback: RadioSnapshot.PlaybackSnapshot, _ voices: [RadioSnapshot.VoiceSnapshot], _ people: People?,
        _ session: RadioSession, _ names: Names, _ watch: QualityMonitor, _ standing: ChannelStanding,
        to fields: inout StatusFields
    ) {
        let present = voices.filter { $0.endpoint != nil }
        let isKnown = standing.isReached && addPeople(people, standing, to: &fields)
        for voice in present {
            fields.addPart(names[voice.ssrc])
            fields.add(meters[voice.ssrc, default: Meter()].show(voice.level), rank: 4)
            if voice.looksEncrypted {
                fields.add("looks encrypted")
            } else {
                add(watch.recent(voice.ssrc), voice.playout, to: &fields)
            }
        }
        meters = meters.filter { meter in present.contains { $0.ssrc == meter.key } }
        if present.isEmpty, !isKnown {
            fields.addPart(
                hasPartner && !standing.isChannel
                    ? "nobody answers" : names.isEmpty ? "nobody is heard yet" : "nobody is heard")
        }
        if showsTimePitch {
            fields.addPart("rate \(decimal(session.rate, places: 2))")
            if session.pitch != 0 { fields.add("pitch \(decimal(session.pitch, places: 0))", rank: 3) }
            fields.add("behind \(decimal(session.lag / .seconds(1), places: 1)) s", rank: 2)
        }
        if session.isSpeakerMuted { fields.addPart("speaker muted") }
        if playback.isCardLost { fields.addPart("PLAYBACK CARD LOST", rank: StatusFields.alert) }
    }

    /// Sound that was there and not played, and who is to blame.
    private func addMissing(_ share: Double?, to fields: inout StatusFields) {
        guard let missing = percent(share) else { return }
        fields.addPart(
            playsOnCard ? "the card skips \(missing): try -F 20ms" : "\(missing) left out: this machine is too slow",
            rank: StatusFields.alert)
    }

    /// `2 here: Anna (open), Ben`. Returns whether that is known.
    private func addPeople(_ people: People?, _ standing: ChannelStanding, to fields: inout StatusFields) -> Bool {
        guard let people, standing.isChannel || people.count > 0 else { return false }
        // Who is alone with us and heard is shown below.
        guard standing.isChannel || people.hasSilent else { return true }
        fields.addPart(people.head)
        if !people.names.isEmpty { fields.add(people.names, rank: 6, after: ": ") }
        return true
    }

    /// `loss 5.2% x1.4  late 0.3%  PLC 2.1%  FEC 3.1%  RED 2.0%  NACK 1.0%  delay 33→40 ms  +12 ppm  score 3.9`, without what is nothing.
    private func add(_ recent: QualitySummary, _ now: PlayoutStatistics, to fields: inout StatusFields) {
        if let loss = percent(recent.lostShare) { fields.add("loss \(loss)") }
        if let burst = recent.burstLength { fields.add("x\(decimal(burst, places: 1))", rank: 6, after: " ") }
        if let late = percent(recent.lateShare) { fields.add("late \(late)", rank: 5) }
        if let concealed = percent(recent.concealedShare) { fields.add("PLC \(concealed)", rank: 2) }
        if let recovered = percent(recent.recoveredByFECShare) { fields.add("FEC \(recovered)", rank: 3) }
        if let copied = percent(recent.recoveredByCopyShare) { fields.add("RED \(copied)", rank: 3) }
        if let retransmitted = percent(recent.recoveredByResendShare) { fields.add("NACK \(retransmitted)", rank: 3) }
        let delay = decimal(now.delay.duration() / .milliseconds(1), places: 0)
        let target = decimal(now.target.duration() / .milliseconds(1), places: 0)
        fields.add("delay \(delay)")
        if target != delay { fields.add("→\(target)", rank: 9, after: "") }
        fields.add("ms", after: " ")
        let drift = decimal(Double(now.driftPartsPerMillion), places: 0)
        if drift != "0" { fields.add("\(drift.hasPrefix("-") ? "" : "+")\(drift) ppm", rank: 10) }
        if let score = recent.score { fields.add("score \(decimal(score, places: 1))", rank: 1) }
    }

    /// Nil for what would be shown as nothing.
    private func percent(_ share: Double?) -> String? {
        share.flatMap { $0 >= 0.0005 ? decimal($0 * 100, places: 1) + "%" : nil }
    }
}

/// Rises with the sound at once and falls slowly, so that speech can be read.
struct Meter {
    private var shown = Level.floor

    /// In decibels each time it is shown.
    private static let fall: Float = 4

    mutating func show(_ level: Level) -> String {
        shown = max(level, Level(decibels: shown.decibels - Self.fall))
        let number = decimal(Double(shown.decibels), places: 0)
        return shown <= .floor
            ? " silent " : String(repeating: " ", count: max(3 - number.count, 0)) + number + " dBFS"
    }
}

/// Of the payload, over the last second.
private struct SentRate {
    private(set) var kilobits = 0.0
    private var byteCount = 0
    private var elapsed = Duration.zero

    mutating func update(_ snapshot: RadioSnapshot) {
        let passed = (snapshot.elapsed - elapsed) / .seconds(1)
        guard passed >= 1 else { return }
        kilobits = Double(snapshot.sendStream.byteCount - byteCount) * 8 / passed / 1_000
        byteCount = snapshot.sendStream.byteCount
        elapsed = snapshot.elapsed
    }
}
