import Engine
import RTP
import Playout
import Radio
import Sound

/// One line that tells how it goes, drawn over itself.
struct StatusLine {
    private var isDrawn = false
    private var lastByteCount = 0
    private var lastElapsed = Duration.zero
    private var bitRate = 0.0

    mutating func draw(_ snapshot: SessionSnapshot, _ session: Session, keys: Bool) {
        let text = text(snapshot, session, keys: keys)
        Terminal.draw("\r\u{1B}[K" + String(text.prefix(max(Terminal.width - 1, 20))))
        isDrawn = true
    }

    mutating func clear() {
        if isDrawn { Terminal.draw("\r\u{1B}[K") }
        isDrawn = false
    }

    private mutating func text(_ snapshot: SessionSnapshot, _ session: Session, keys: Bool) -> String {
        var parts: [String] = []
        if let capture = snapshot.capture {
            if keys { parts.append(session.isMicrophoneOpen ? "ON AIR" : "mic closed") }
            parts.append("out \(level(capture.level)) \(rate(snapshot)) kbit/s")
            if capture.isCardLost { parts.append("CAPTURE CARD LOST") }
        }
        for voice in snapshot.voices where voice.endpoint != nil {
            let expected = voice.receivedCount + max(voice.lostCount, 0)
            let loss = expected > 0 ? Double(max(voice.lostCount, 0)) / Double(expected) * 100 : 0
            let delay = voice.playout.delay.duration() / .milliseconds(1)
            parts.append(
                "\(voice.name ?? voice.ssrc.label) \(level(voice.level))  loss \(decimal(loss, places: 1)) %"
                    + "  delay \(decimal(delay, places: 0)) ms")
        }
        if let playback = snapshot.playback {
            if snapshot.voices.allSatisfy({ $0.endpoint == nil }) { parts.append("nobody is heard") }
            if session.isSpeakerMuted { parts.append("speaker silenced") }
            if playback.isCardLost { parts.append("PLAYBACK CARD LOST") }
        }
        return parts.joined(separator: "  |  ")
    }

    private func level(_ level: Level) -> String {
        level <= .floor ? " silent " : decimal(Double(level.decibels), places: 0) + " dBFS"
    }

    /// Of the payload, over the last second.
    private mutating func rate(_ snapshot: SessionSnapshot) -> String {
        let passed = (snapshot.elapsed - lastElapsed) / .seconds(1)
        if passed >= 1 {
            bitRate = Double(snapshot.transmission.byteCount - lastByteCount) * 8 / passed / 1_000
            lastByteCount = snapshot.transmission.byteCount
            lastElapsed = snapshot.elapsed
        }
        return decimal(bitRate, places: 1)
    }
}

extension SSRC {
    /// `station 1a2b3c4d`.
    var label: String {
        let digits = String(rawValue, radix: 16)
        return "station " + String(repeating: "0", count: 8 - digits.count) + digits
    }
}
