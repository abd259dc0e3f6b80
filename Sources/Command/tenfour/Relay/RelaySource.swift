import ArgumentParser
import Glibc
import TenfourChannelKeys
import TenfourFloor
import TenfourManagedChannel
import TenfourRadio
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession
import TenfourWeb

/// A relay's configuration: a file, and options that override or extend it.
struct RelaySource: ParsableArguments {
    @Option(
        name: .shortAndLong, help: ArgumentHelp("The configuration file; --example prints one.", valueName: "file"),
        completion: .file(extensions: ["conf"]))
    var config: String?

    @Option(help: ArgumentHelp("The address at which members join; overrides the file.", valueName: "address:port"))
    var bind: String?

    @Option(help: ArgumentHelp("Number of sending threads, 1 to 64; overrides the file.", valueName: "count"))
    var workers: Int?

    @Option(
        help: ArgumentHelp(
            "Accept standard RTP for an unencrypted channel: CHANNEL=BIND:PORT, or CHANNEL=BIND:PORT,from=ADDRESS to accept only one sender.",
            valueName: "input"))
    var rtpIn: [String] = []

    @Option(
        help: ArgumentHelp(
            "Forward the RTP of an unencrypted channel: CHANNEL=ADDRESS:PORT, or CHANNEL=@FILE to forward to every address in a file. ADDRESS:PORT,sap also announces a multicast group.",
            valueName: "output"))
    var rtpOut: [String] = []

    @Option(
        help: ArgumentHelp(
            "The Unix socket for status requests; overrides the file.", valueName: "path"), completion: .file())
    var statusSocket: String?

    @Option(
        help: ArgumentHelp(
            "The address of the HTTP server, at which browsers and players hear the channels of --web; overrides the file.",
            valueName: "address:port"))
    var http: String?

    @Option(
        help: ArgumentHelp(
            "A channel that can be heard over HTTP: NAME[,link=FILE][,token=FILE][,show-link].",
            valueName: "channel"))
    var web: [String] = []

    @Option(
        help: ArgumentHelp(
            "The page's address as listeners type it, such as https://radio.example.org/; overrides the file.",
            valueName: "url"))
    var webAddress: String?

    @Option(help: HTTPHostName.help)
    var httpHost: [HTTPHostName] = []

    @Option(
        help: ArgumentHelp(
            "A proxy in front of the HTTP server, which names its clients in X-Forwarded-For, such as 127.0.0.1.",
            valueName: "address"))
    var webProxy: [String] = []

    @Option(
        help: ArgumentHelp(
            "Send a channel to a mount point of an Icecast server: CHANNEL=FILE. The file holds the server's host, port, mount, user and password.",
            valueName: "feed"))
    var icecast: [String] = []

    @Option(
        help: ArgumentHelp(
            "The URLs of the NATS servers that connect the relays of a cluster, separated by commas; overrides the file.",
            valueName: "urls"))
    var nats: String?

    @Option(
        help: ArgumentHelp(
            "The file with the cluster's key, 64 hexadecimal digits; overrides the configuration.", valueName: "file"),
        completion: .file())
    var clusterKey: String?

    @Option(help: MetricsAddress.help)
    var metrics: MetricsAddress?

    var isEmpty: Bool { config == nil && rtpIn.isEmpty && rtpOut.isEmpty }

    /// The result of reading a relay's configuration.
    struct Read {
        var configuration: RelayServerConfiguration
        var statusSocket: (path: String, isNamed: Bool)
        /// The Icecast servers to be fed, by channel.
        var icecast: [String: IcecastSettings]
        /// The address at which the relay serves its metrics; nil if it does not.
        var metrics: Endpoint?
        /// The file that the relay's key is read from, and whether it was made now; nil if no file is configured.
        var key: (file: String, isNew: Bool)?
    }

    func validate() throws {
        if let workers, !(1...64).contains(workers) {
            throw ValidationError("--workers \(workers) is out of range: write 1 to 64.")
        }
        if let bind, Endpoint(bind)?.address.isMulticast ?? true {
            throw ValidationError(
                "--bind \(bind) is not an address of this machine: write one such as 0.0.0.0:5004 or [::]:5004.")
        }
    }

    /// Reads the file and applies the options. Throws `.unavailable` if the file cannot be read, or if other users can
    /// read the channels' secret keys in it. Throws `.configuration` if the configuration has an error. Makes the file of
    /// the relay's key, and the folder for the members of channels with owners, if they are missing and `makesKey` is true.
    func read(makesKey: Bool) throws(RadioError) -> Read {
        var file = RelayFile()
        var access: WholeFile.Access?
        do throws(RelayFileErrors) {
            if let config {
                guard let (bytes, itsAccess) = WholeFile.content(of: config) else {
                    throw RelayFileErrors(RelayFileError(unreadable: config))
                }
                access = itsAccess
                file.add(bytes.span, of: config) { WholeFile.content(of: Self.path($0, besides: config))?.bytes }
            }
            for text in rtpIn { file.add("rtp-in", text) }
            for text in rtpOut { file.add("rtp-out", text) { WholeFile.content(of: $0)?.bytes } }
            if let http { file.replace("http", http) }
            for text in web { file.add("web", Self.withAbsolutePaths(text)) }
            for host in httpHost { file.add("http-host", host.name) }
            for text in webProxy { file.add("web-proxy", text) }
            if let webAddress { file.replace("web-address", webAddress) }
            for text in icecast { file.add("icecast", Self.withAbsolutePaths(text)) }
            if let nats { file.replaceCluster("nats", nats) }
            if let clusterKey { file.replaceCluster("cluster-key", Self.absolutePath(clusterKey)) }
            var configuration = try file.finished()
            try configuration.readCluster(file.cluster, besides: config)
            try configuration.readWebSecrets(besides: config)
            let keyFile = file.keyFile.map { Self.path($0, besides: config) }
            let key = try keyFile.flatMap { path throws(RelayFileErrors) in
                try RelayKeyFile.key(at: path, makes: makesKey)
            }
            configuration.relay.key = key?.key
            if let config, !configuration.relay.channels.isEmpty, let reason = access?.weakness(of: config) {
                throw RelayFileErrors(RelayFileError(open: config, reason))
            }
            if let bind, let endpoint = Endpoint(bind) { configuration.bind = endpoint }
            if let workers { configuration.workers = workers }
            let state = file.stateFolder.map { Self.path($0, besides: config) }
            configuration.stateFolder = try Self.stateFolder(state, for: configuration.relay, makes: makesKey)
            let named = statusSocket ?? file.statusSocket
            return Read(
                configuration: configuration, statusSocket: (named ?? StatusSocket.path, named != nil),
                icecast: try configuration.icecastSettings(besides: config),
                metrics: metrics?.endpoint ?? file.metrics, key: keyFile.map { ($0, key?.isNew ?? false) })
        } catch {
            throw RadioError(error.isMissingFile ? .unavailable : .configuration, error.description)
        }
    }
}

extension RelaySource {
    /// Returns the relay's key, and makes its file if it is missing. The configuration need not be complete: the first
    /// channel's links are made with this key.
    func key() throws(RadioError) -> RelayKey {
        guard let config else {
            throw RadioError(.usage, "--show-key needs --config FILE, with a line relay-key FILE")
        }
        do throws(RelayFileErrors) {
            guard let (bytes, _) = WholeFile.content(of: config) else {
                throw RelayFileErrors(RelayFileError(unreadable: config))
            }
            var file = RelayFile()
            file.add(bytes.span, of: config)
            guard let keyFile = file.keyFile else {
                throw RelayFileErrors(
                    RelayFileError(nil, of: config, "it names no file for the relay's key: add a line relay-key FILE"))
            }
            guard let key = try RelayKeyFile.key(at: Self.path(keyFile, besides: config), makes: true) else {
                preconditionFailure("a missing key is made")
            }
            return key.key
        } catch {
            throw RadioError(error.isMissingFile ? .unavailable : .configuration, error.description)
        }
    }
}

extension RelaySource.Read {
    /// The number of channels, such as `2 channels, 1 without encryption`, and whether stations can pair.
    var counts: String {
        let (channels, plain) = (configuration.relay.channels.count, configuration.plain.count)
        let first = "\(channels) \(channels == 1 ? "channel" : "channels")"
        return first + (plain == 0 ? "" : ", \(plain) without encryption")
            + (configuration.relay.pairing == nil ? "" : "; pairs stations")
    }

    /// The text that `--check` prints.
    var summary: String {
        let limits = configuration.relay.limits
        var lines = [
            "listens on \(configuration.bind), sends from \(configuration.workers) \(configuration.workers == 1 ? "thread" : "threads")",
            "status socket: \(statusSocket.path)",
        ]
        for (channel, settings) in icecast.sorted(by: { $0.key < $1.key }) {
            lines.append("feeds channel \(channel) to the Icecast server \(settings.target)")
        }
        if let metrics { lines.append("metrics: http://\(metrics)/metrics") }
        if let folder = configuration.stateFolder, configuration.relay.channels.contains(where: { $0.owner != nil }) {
            lines.append("keeps the members that owners have added in \(folder)")
        }
        if !configuration.relay.channels.isEmpty || configuration.relay.pairing != nil {
            if let key {
                lines.append(
                    "the relay's key: "
                        + (configuration.relay.key.map(\.publicKey.text) ?? "\(key.file) will be made at the start"))
            }
            let names = configuration.relay.names.count
            lines.append(
                "accepts links with \(names == 0 ? "any host name" : "\(names) host \(names == 1 ? "name" : "names")")")
            lines.append(
                "accepts \(limits.members) members, \(limits.channelMembers) in a channel; \(limits.talkerPacketsPerSecond) packets "
                    + "and \(limits.talkerBitsPerSecond) bits per second from a talker")
            lines.append(
                "forwards \(limits.channelVoices) simultaneous voices of \(limits.channelTalkers) talkers in a channel, and "
                    + "\(limits.channelBitsPerSecond) bits per second in total")
        }
        if let pairing = configuration.relay.pairing, let members = configuration.relay.pairedMemberLimit {
            lines.append(
                "pairs stations, and forwards the channels that they make: \(members) members in all, "
                    + "\(pairing.bitsPerSecond) bits per second in one")
        }
        for channel in configuration.relay.channels {
            let owner = channel.owner.map { " of the owner \($0.configurationText)" } ?? ""
            let rules = [channel.limits.text, Self.text(of: channel.floor)].compactMap { $0 }
            lines.append("channel \(channel.name)\(owner): \(rules.joined(separator: "; "))")
        }
        for channel in configuration.plain {
            let inputs = channel.inputs.map { "\($0.bind)" + ($0.from.map { " from \($0)" } ?? "") }
            lines.append(
                "channel \(channel.name), not encrypted: \(inputs.joined(separator: ", ")) to \(channel.targets.count) "
                    + (channel.targets.count == 1 ? "address" : "addresses"))
        }
        if let bind = configuration.web.bind {
            lines.append("over HTTP on \(bind): \(configuration.web.channels.map(\.name).joined(separator: ", "))")
        }
        if configuration.web.bind != nil || metrics != nil {
            let names = ["IP addresses", "localhost"] + configuration.web.hostNames.subtracting(["localhost"]).sorted()
            lines.append("answers HTTP requests for \(names.joined(separator: ", "))")
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Returns who may talk in a channel, and how long.
    private static func text(of floor: FloorArbiter.Configuration?) -> String {
        guard let floor else { return "several may talk at once" }
        let length = floor.longestTalk.map { "for at most \(Int($0 / .seconds(1))) s" } ?? "without a time limit"
        return floor.isRequired
            ? "one talks at a time, \(length)"
            : "grants the floor to those who ask for it, \(length); others may talk, too"
    }
}

extension ChannelLimits {
    /// A channel's limits; nil without limits.
    fileprivate var text: String? {
        let limits = [
            members.map { "\($0) members" }, talkers.map { "\($0) talkers" },
            voices.map { "\($0) simultaneous voices" }, bitsPerSecond.map { "\($0) bits per second" },
            talkerPacketsPerSecond.map { "\($0) packets per second from a talker" },
            talkerBitsPerSecond.map { "\($0) bits per second from a talker" },
        ].compactMap { $0 }
        return limits.isEmpty ? nil : "accepts \(limits.joined(separator: ", "))"
    }
}

/// Reads a whole file together with its owner and mode.
enum WholeFile {
    /// The owner and mode of the file when it was read.
    struct Access {
        var owner: uid_t
        var mode: mode_t

        /// The reason why the secrets in this file are not safe, with the remedy; nil if they are safe.
        /// Secrets in systemd's credentials directory are always safe, since systemd restricts who can read its files,
        /// whatever owner and mode they show.
        func weakness(of path: String) -> String? {
            if Self.isCredential(path) { return nil }
            if owner != geteuid(), owner != 0 {
                return
                    "it belongs to another user, who can read and change its keys: change the owner with chown, or copy the file"
            }
            guard mode & 0o077 != 0 else { return nil }
            return
                "other users may read it (mode \(String(mode & 0o777, radix: 8))), and it contains secrets: "
                + "run chmod 600 \(path)"
        }

        /// Whether the file is in systemd's credentials directory, which CREDENTIALS_DIRECTORY names.
        private static func isCredential(_ path: String) -> Bool {
            guard let folder = unsafe getenv("CREDENTIALS_DIRECTORY").map({ unsafe String(cString: $0) }) else {
                return false
            }
            return folder.hasPrefix("/") && path.hasPrefix(folder + "/")
        }
    }

    /// Returns the file's bytes, owner and mode; nil if it cannot be read. Bytes beyond `RelayFile`'s limit are cut
    /// off.
    static func content(of path: String) -> (bytes: [UInt8], access: Access)? {
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { unsafe fclose(file) }
        var status = stat()
        guard unsafe fstat(fileno(file), &status) == 0 else { return nil }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count <= RelayFile.maximumByteCount {
            let count = unsafe fread(&room, 1, room.count, file)
            if count == 0 { break }
            bytes += room[..<count]
        }
        guard unsafe ferror(file) == 0 else { return nil }
        return (bytes, Access(owner: status.st_uid, mode: status.st_mode))
    }
}
