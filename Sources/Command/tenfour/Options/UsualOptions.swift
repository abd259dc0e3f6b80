/// The options that `--help` shows; `--help-all` shows all.
///
/// With the examples they must leave room for the keys of a command that has any: `ShortHelp` shortens the list of keys
/// to the lines that are left. A new option is not shown unless it is added here.
enum UsualOptions {
    /// The names of the shown options, by command. A command that is missing in the table shows all its options.
    static let table: [String: [String]] = [
        "tenfour": [],
        "tenfour talk": [
            "link-file", "device", "open", "ptt", "time-out", "input", "profile", "name",
        ],
        "tenfour pair": ["relay", "port", "device", "open", "ptt", "input", "name"],
        "tenfour listen": [
            "link-file", "device", "output", "oneshot", "jitter", "profile", "name", "duration", "levels", "report",
        ],
        "tenfour send": [
            "link-file", "device", "input", "sdp", "codec", "bitrate", "music", "profile", "duration", "report",
        ],
        "tenfour recv": [
            "device", "output", "oneshot", "port", "srtp-key-file", "jitter", "profile", "duration", "levels", "report",
        ],
        "tenfour log": ["follow", "count", "json", "record"],
        "tenfour log play": ["device", "rate", "pitch", "volume", "start"],
        "tenfour doctor": ["link-file", "device", "port", "json"],
        "tenfour play": ["device", "output", "start", "rate", "pitch", "volume", "shuffle"],
        "tenfour plot": [
            "output", "json", "start", "duration", "channels", "normalize", "bars", "size", "peak", "position", "floor",
            "dark",
        ],
        "tenfour relay": ["config", "check", "example", "rtp-in", "rtp-out", "http", "web"],
    ]
}
