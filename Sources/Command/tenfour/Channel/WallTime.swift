import Glibc

/// The time of day, and waiting.
enum WallTime {
    /// Seconds since 1970.
    static var seconds: UInt64 { UInt64(max(time(nil), 0)) }

    static func sleep(milliseconds: UInt32) { usleep(milliseconds * 1_000) }

    /// The local date and time of `seconds` since 1970, such as `2026-11-26 14:05`.
    static func text(_ seconds: UInt64) -> String {
        var moment = time_t(clamping: seconds)
        var parts = unsafe tm()
        guard unsafe localtime_r(&moment, &parts) != nil else { return "?" }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let date = unsafe "\(parts.tm_year + 1_900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return unsafe "\(date) \(two(parts.tm_hour)):\(two(parts.tm_min))"
    }
}
