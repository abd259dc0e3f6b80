import Engine
import Network
import Playout
import RTP
import Radio
import Sound

/// One line that tells how it goes, drawn over itself.
struct StatusLine {
    private var isDrawn = false
    private var rate = SentRate()
    private var ownMeter = Meter()
    private var meters: [SSRC: Meter] = [:]
    private var failureCount = 0

    mutating func draw(_ snapshot: SessionSnapshot, _ session: Session, _ names: Names) {
        let text = text(snapshot, session, names)
        Terminal.draw("\r\u{1B}[K" + String(text.prefix(max(Terminal.width - 1, 20))))
        isDrawn = true
    }

    mutating func clear() {
        if isDrawn { Terminal.draw("\r\u{1B}[K") }
        isDrawn = false
    }

    private mutating func text(_ snapshot: SessionSnapshot, _ session: Session, _ names: Names) -> String {
        var parts: [String] = []
        if let capture = snapshot.capture { parts += own(capture, snapshot, session) }
        if let playback = snapshot.playback { parts += others(playback, snapshot.voices, session, names) }
        return parts.joined(separator: "  |  ")
    }

    /// `ON AIR  -12 dBFS  31.9 kbit/s`, and what keeps it from arriving.
    private mutating func own(
        _ capture: SessionSnapshot.CaptureSnapshot, _ snapshot: SessionSnapshot, _ session: Session
    ) -> [String] {
        let isOpen = session.isMicrophoneOpen
        let level = ownMeter.show(capture.level)
        rate.update(snapshot)
        var parts = [
            snapshot.playback != nil && !isOpen
                ? "mic closed  \(level)"
                : "\(snapshot.playback == nil ? "sending" : "ON AIR")  \(level)  \(decimal(rate.kilobits, places: 1)) kbit/s"
        ]
        if let view = snapshot.transmission.lastView, view.lossShare > 0 {
            parts.append("the other end loses \(decimal(view.lossShare * 100, places: 0)) %")
        }
        if snapshot.network.failed > failureCount, let failure = snapshot.network.lastFailure {
            parts.append("\(failure)")
        }
        failureCount = snapshot.network.failed
        if capture.isCardLost { parts.append("CAPTURE CARD LOST") }
        return parts
    }

    /// `Bob  -9 dBFS  loss 0.0 %  delay 33 ms`, for each who is there.
    private mutating func others(
        _ playback: SessionSnapshot.PlaybackSnapshot, _ voices: [SessionSnapshot.VoiceSnapshot], _ session: Session,
        _ names: Names
    ) -> [String] {
        let present = voices.filter { $0.endpoint != nil }
        var parts = present.map { voice in
            let expected = voice.receivedCount + max(voice.lostCount, 0)
            let loss = expected > 0 ? Double(max(voice.lostCount, 0)) / Double(expected) * 100 : 0
            let delay = voice.playout.delay.duration() / .milliseconds(1)
            return "\(names[voice.ssrc])  \(meters[voice.ssrc, default: Meter()].show(voice.level))"
                + "  loss \(decimal(loss, places: 1)) %  delay \(decimal(delay, places: 0)) ms"
        }
        meters = meters.filter { meter in present.contains { $0.ssrc == meter.key } }
        if present.isEmpty { parts.append(names.isEmpty ? "nobody is heard yet" : "nobody is heard") }
        if session.isSpeakerMuted { parts.append("speaker silenced") }
        if playback.isCardLost { parts.append("PLAYBACK CARD LOST") }
        return parts
    }
}

/// Rises with the sound at once and falls slowly, so that speech can be read.
private struct Meter {
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

    mutating func update(_ snapshot: SessionSnapshot) {
        let passed = (snapshot.elapsed - elapsed) / .seconds(1)
        guard passed >= 1 else { return }
        kilobits = Double(snapshot.transmission.byteCount - byteCount) * 8 / passed / 1_000
        byteCount = snapshot.transmission.byteCount
        elapsed = snapshot.elapsed
    }
}
