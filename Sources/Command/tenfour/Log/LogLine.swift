import Glibc
import TenfourAudioCore
import TenfourCommandSupport
internal import TenfourJSON
import TenfourTransmissions

/// A recording as a line of `tenfour log`, of at most 80 columns, or as JSON.
enum LogLine {
    static let heading = line("#", "start", "channel", "talker", "duration", "lost", "score")

    private static let (channelWidth, talkerWidth) = (12, 16)
    /// The age at which the year is shown instead of the time, in seconds: half a year.
    private static let oldAge = 182 * 86_400

    /// Returns the line. `now` is in seconds since 1970.
    static func text(_ entry: TransmissionLog.Entry, now: Int) -> String {
        let transmission = entry.transmission
        return line(
            "\(entry.number)", clock(transmission.start, now: now), transmission.channel, transmission.talker,
            transmission.duration.map(length) ?? "–",
            transmission.lossShare.map { "\(decimal($0 * 100, places: 1))%" } ?? "–",
            transmission.score.map { decimal($0, places: 1) } ?? "–")
    }

    static let missedHeading = "missed calls"

    /// Returns the line of a missed call. `now` is in seconds since 1970.
    static func text(_ call: MissedCalls.Call, now: Int) -> String {
        "      \(clock(call.time, now: now))  \(call.caller)\(call.repetition)"
    }

    /// Returns the recording as an object on one line. Its times are in seconds.
    static func json(_ entry: TransmissionLog.Entry) -> String {
        let transmission = entry.transmission
        let object = JSON.object([
            ("number", .integer(entry.number)), ("start", .integer(transmission.start)),
            ("channel", .text(transmission.channel)), ("talker", .text(transmission.talker)),
            ("duration_s", .decimal(transmission.duration.map { $0 / .seconds(1) }, places: 3)),
            ("lost_share", .decimal(transmission.lossShare, places: 4)),
            ("score", .decimal(transmission.score, places: 2)), ("complete", .boolean(entry.isComplete)),
            ("file", .text(entry.path)),
        ])
        return object.line
    }

    private static func line(
        _ number: String, _ start: String, _ channel: String, _ talker: String, _ length: String, _ loss: String,
        _ score: String
    ) -> String {
        [
            right(number, 4), start.fitted(toColumns: 15), channel.fitted(toColumns: channelWidth),
            talker.fitted(toColumns: talkerWidth),
            right(length, 8), right(loss, 6), right(score, 5),
        ].joined(separator: "  ")
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(width - text.columnCount, 0)) + text
    }

    /// Formats a length as `12.3 s`, `2:03` or `1:02:03`.
    private static func length(_ duration: Duration) -> String {
        let seconds = duration / .seconds(1)
        guard seconds >= 59.95 else { return "\(decimal(seconds, places: 1)) s" }
        let whole = Int(min(seconds, 1e9).rounded())
        func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let minutes = whole >= 3_600 ? "\(whole / 3_600):\(padded(whole / 60 % 60))" : "\(whole / 60)"
        return "\(minutes):\(padded(whole % 60))"
    }

    /// Formats a time in this place as `Nov 22 10:03:17`, or as `Nov 22  2025` if it is half a year away.
    private static func clock(_ seconds: Int, now: Int) -> String {
        var moment = time_t(seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&moment, &parts) != nil else { return "?" }
        var text = [CChar](repeating: 0, count: 32)
        let count = unsafe strftime(
            &text, text.count, abs(now - seconds) < oldAge ? "%b %e %H:%M:%S" : "%b %e  %Y", &parts)
        return String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
