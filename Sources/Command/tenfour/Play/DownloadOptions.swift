import ArgumentParser
import TenfourCommandSupport
import TenfourMediaSource
import TenfourPlayer
import TenfourRadio

/// The options for fetching an address.
struct FetchOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A proxy for HTTP: http://HOST:PORT or socks5h://HOST:PORT. Default: the proxy in http_proxy, https_proxy or all_proxy of the environment.",
            valueName: "address"))
    var proxy: String?

    @Option(
        help: ArgumentHelp(
            "How long to wait for a connection, or for the next byte; a bare number is in seconds.", valueName: "time"))
    var timeout = Time<BareSeconds>(.seconds(10))

    @Option(
        help: ArgumentHelp(
            "Give up a broken connection after retrying for this long; with never, retry without end. Default: 60s, or never for a live stream that is sent or played on a card.",
            valueName: "time|never"))
    var giveUpAfter: RetryLimit?

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "An HTTP header such as 'Authorization: Bearer …', sent only to the server (scheme, host and port) of the address that you type.",
            valueName: "line"))
    var header: [String] = []

    @Option(
        help: ArgumentHelp(
            "A PEM file of certificates to trust instead of the system's, for a server with a certificate of its own. Default: the file in the variable SSL_CERT_FILE and the folder in SSL_CERT_DIR, or the system's.",
            valueName: "file"), completion: .file(extensions: ["pem", "crt"]))
    var caFile: String?

    @Flag(help: "Follow redirects from https to http, where others can read and change the data.")
    var allowHttp = false

    func validate() throws {
        // The message does not repeat the header, which may be a secret.
        if header.contains(where: { !$0.contains(":") || $0.hasPrefix(":") }) {
            throw ValidationError("--header needs a name and a colon: write 'Name: value'.")
        }
        guard timeout.duration > .zero else { throw ValidationError("--timeout 0 is too short: write 1s or more.") }
    }

    /// Throws if `--header` is given but `addresses` has no HTTP address, because headers are sent to HTTP servers
    /// only. Commands call it in `validate`.
    func checkHeaders(for addresses: [String]) throws {
        guard !header.isEmpty, !addresses.contains(where: isAddress) else { return }
        throw ValidationError(
            "--header is sent only to a web address that you type, not to the addresses in a playlist: write the address, as https://HOST/PATH."
        )
    }

    /// Applies the options to `settings`. If `waitsForLive` is true, a live stream that breaks off is retried without a
    /// time limit, unless an option sets one.
    func apply(to settings: inout DownloadSettings, waitsForLive: Bool) {
        settings.proxy = proxy.map(Secrets.reveal)
        settings.timeout = timeout.duration
        settings.headers = header.map(Secrets.reveal)
        settings.allowsDowngrade = allowHttp
        settings.certificates = caFile
        if let giveUpAfter {
            (settings.giveUpAfter, settings.giveUpLiveAfter) = (giveUpAfter.duration, giveUpAfter.duration)
        } else {
            settings.giveUpLiveAfter = waitsForLive ? nil : settings.giveUpAfter
        }
    }
}

/// The options for fetching and buffering the audio to be played.
struct DownloadOptions: ParsableArguments {
    @OptionGroup var fetch: FetchOptions

    @Option(help: ArgumentHelp("How much audio to read ahead; a bare number is in seconds.", valueName: "time"))
    var buffer = Time<BareSeconds>(.seconds(30))

    @Option(
        help: ArgumentHelp("How many bytes to read ahead, such as 2M or 500k; replaces --buffer.", valueName: "size"))
    var bufferSize: ByteCount?

    @Flag(help: "Download the whole recording to disk, as fast as possible.")
    var bufferAll = false

    @Option(
        help: ArgumentHelp(
            "Begin playback when this much audio is buffered; a bare number is in seconds.", valueName: "time"))
    var startAfter = Time<BareSeconds>(.zero)

    func validate() throws {
        if startAfter.duration > buffer.duration, bufferSize == nil, !bufferAll {
            throw ValidationError(
                "--start-after is longer than --buffer: write a shorter --start-after or a longer --buffer.")
        }
    }

    /// Applies all options but `startAfter`, which belongs to the player. For `waitsForLive` see `FetchOptions.apply`.
    func apply(to settings: inout DownloadSettings, waitsForLive: Bool) {
        fetch.apply(to: &settings, waitsForLive: waitsForLive)
        settings.bufferedDuration = buffer.duration
        settings.bufferedByteCount = bufferSize?.byteCount
        settings.buffersAll = bufferAll
    }
}

/// A time limit for retries: `60s`, or `never`.
struct RetryLimit: ExpressibleByArgument {
    /// The time limit; nil for `never`.
    var duration: Duration?

    init?(argument: String) {
        guard argument != "never" else { return }
        guard let time = Time<BareSeconds>(argument: argument), time.duration > .zero else { return nil }
        duration = time.duration
    }
}

/// A number of bytes: `500k`, `2M`, or without a unit.
struct ByteCount: ExpressibleByArgument {
    var byteCount: Int

    init?(argument: String) {
        let units: [Character: Double] = ["k": 1_024, "K": 1_024, "M": 1_048_576, "G": 1_073_741_824]
        let unit = argument.last.flatMap { units[$0] }
        guard let number = Double(unit == nil ? argument : String(argument.dropLast())), number > 0, number < 1e9 else {
            return nil
        }
        byteCount = Int(min(number * (unit ?? 1), 1e12))
    }
}
