/// The options that `--help` shows; `--help-all` shows all.
enum UsualOptions {
    /// The names of the shown options, by command. A command that is missing in the table shows all its options.
    static let table: [String: [String]] = [
        "tenfour": [],
        "tenfour talk": [
            "link-file", "device", "open", "ptt", "time-out", "input", "profile", "name",
        ],
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
        "tenfour play": ["device", "output", "rate", "pitch", "volume", "start", "loop"],
        "tenfour plot": ["output", "json", "bars", "size", "peak", "position", "floor", "dark", "blocks"],
        "tenfour relay": ["config", "check", "example", "rtp-in", "rtp-out", "http", "web"],
    ]
}
