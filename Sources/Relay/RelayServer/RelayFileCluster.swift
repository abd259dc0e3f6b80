internal import TenfourNATS

/// Parses the lines about a cluster: `nats`, `cluster-key`, `nats-ca`, `nats-cert`, `nats-key` and `nats-credentials`.
extension RelayFile {
    mutating func addCluster(_ words: [String], _ place: RelayFileError.Place) throws(RelayFileError) {
        let keyword = words[0]
        guard words.count == 2 else { throw RelayFileError(place, .message(Self.form(of: keyword))) }
        if keyword == "nats" {
            let servers = words[1].split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            guard servers.allSatisfy(NATSConfiguration.isServer) else {
                throw RelayFileError(place, .message(Self.form(of: keyword)))
            }
            guard cluster.servers.isEmpty else { throw RelayFileError(place, .again(keyword)) }
            cluster.servers = servers
        } else {
            guard cluster.files.updateValue(words[1], forKey: keyword) == nil else {
                throw RelayFileError(place, .again(keyword))
            }
        }
        clusterPlaces[keyword] = place
    }

    /// Parses a command-line option that overrides the line `keyword`, `nats` or `cluster-key`.
    public mutating func replaceCluster(_ keyword: String, _ value: String) {
        if keyword == "nats" { cluster.servers = [] } else { cluster.files[keyword] = nil }
        add(keyword, value)
    }

    /// Adds the errors that only the whole configuration shows.
    func finishCluster(_ errors: inout RelayFileErrors) {
        guard self.errors.isEmpty else { return }
        func note(_ keyword: String, _ text: String) {
            errors.note(RelayFileError(clusterPlaces[keyword] ?? .whole, .message(text)))
        }
        if !cluster.servers.isEmpty, cluster.files["cluster-key"] == nil {
            note(
                "nats",
                "a cluster needs a key that all its relays share: make it with (umask 077; openssl rand -hex 32 > FILE), and add cluster-key FILE"
            )
        }
        if cluster.servers.isEmpty, let keyword = cluster.files.keys.sorted().first {
            note(keyword, "\(keyword) needs NATS servers: add nats nats://HOST:4222")
        }
        if (cluster.files["nats-cert"] == nil) != (cluster.files["nats-key"] == nil) {
            let keyword = cluster.files["nats-cert"] == nil ? "nats-key" : "nats-cert"
            note(keyword, "a certificate and its key go together: write both nats-cert FILE and nats-key FILE")
        }
    }

    private static func form(of keyword: String) -> String {
        switch keyword {
        case "nats":
            "nats needs the URLs of NATS servers, separated by commas, such as nats://10.0.0.7:4222,tls://nats.example.org; user and password go into a file that nats-credentials names"
        default: "\(keyword) needs the path of a file"
        }
    }
}
