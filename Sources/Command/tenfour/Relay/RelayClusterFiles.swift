import TenfourNATS
import TenfourRelayCluster
import TenfourRelayServer

extension RelayServerConfiguration {
    /// Reads the files of a cluster. Relative paths begin in the folder of `config`. Throws with the remedy if one is
    /// missing, if other users can read a secret in it, or if libnats is missing or refuses one.
    mutating func readCluster(_ settings: ClusterSettings, besides config: String?) throws(RelayFileErrors) {
        guard !settings.servers.isEmpty else { return }
        func path(_ keyword: String) -> String? {
            settings.files[keyword].map { RelaySource.path($0, besides: config) }
        }
        guard let keyFile = path("cluster-key") else { return }
        let text = try Self.secret(in: keyFile, "the cluster's key")
        guard let key = ClusterKey(parsing: Array(text.utf8)) else {
            throw RelayFileErrors(
                RelayFileError(
                    open: keyFile,
                    "its first line is not 64 hexadecimal digits; make a key: (umask 077; openssl rand -hex 32 > FILE)")
            )
        }
        var nats = NATSConfiguration(servers: settings.servers)
        nats.authorities = path("nats-ca")
        if let file = path("nats-cert"), let key = path("nats-key") { nats.certificate = (file, key) }
        if let file = path("nats-credentials") { nats.credentials = try Self.credentials(in: file) }
        do throws(NATSError) { try nats.check() } catch {
            throw RelayFileErrors(RelayFileError(open: "the cluster", "\(error)"))
        }
        cluster = ClusterConfiguration(key: key, nats: nats)
    }

    /// Reads a credentials file that NATS's tools have made, or that has USER:PASSWORD in its first line.
    private static func credentials(in path: String) throws(RelayFileErrors) -> NATSConfiguration.Credentials {
        let what = "USER:PASSWORD, or a credentials file of NATS"
        let bytes = try content(ofSecret: path, what)
        if String(decoding: bytes, as: UTF8.self).contains("BEGIN NATS USER JWT") { return .file(path) }
        let parts = try firstLine(of: bytes, in: path, what).split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else {
            throw RelayFileErrors(
                RelayFileError(open: path, "its first line is not USER:PASSWORD; write it there"))
        }
        return .user(String(parts[0]), password: String(parts[1]))
    }
}
