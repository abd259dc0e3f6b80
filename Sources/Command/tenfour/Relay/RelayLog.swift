import TenfourRelayServer
import TenfourSession
import TenfourWeb

/// Prints a relay's notices to standard error, one line each. It never prints a secret. Dropped packets are reported by
/// reason, at most every ten seconds.
struct RelayLog: Sendable {
    var isQuiet: Bool

    func write(_ text: String) { if !isQuiet { Terminal.log("tenfour: \(text)") } }

    func report(_ notice: RelayNotice) {
        switch notice {
        case .listening(let endpoint): write("relaying on \(endpoint)")
        case .receiving(let channel, let endpoint): write("receiving for \(channel) on \(endpoint), not encrypted")
        case .announcing(let channel, let group, let payloadType):
            write("channel \(channel) is announced on \(group), payload type \(payloadType)")
        case .inputRefused(let channel, let endpoint, let error):
            Terminal.log("tenfour: nothing is received for \(channel) on \(endpoint): \(error)")
        case .reloaded: break
        case .cluster(.connected): write("connected to NATS")
        case .cluster(.disconnected(let reason)):
            write("not connected to NATS: \(reason); the relay goes on alone and tries again")
        case .cluster(.relays(let count)): write("\(count) other \(count == 1 ? "relay" : "relays") in the cluster")
        case .cluster(.floorsApart(let channels)):
            write(
                "another relay is silent: if it still runs, two may talk at once in \(channels.joined(separator: ", ")), "
                    + "one at each relay, until both are connected to NATS")
        case .waitsForRestart:
            write("a new bind address, number of workers, state folder or cluster takes effect after a restart")
        case .membersUnknown(let channel, let reason):
            Terminal.log("tenfour: channel \(channel) has no members: \(reason)")
        case .membersNotStored(let channel, let reason):
            Terminal.log(
                "tenfour: what the owner of channel \(channel) changes has no effect, until it can be stored: \(reason)"
            )
        case .dropped(let drops): write("dropped \(drops.map(\.description).joined(separator: "; "))")
        }
    }

    func report(_ notice: WebNotice) {
        switch notice {
        case .listening(let endpoint, let isPublic):
            write("listeners over HTTP connect to http://\(endpoint)/")
            if isPublic {
                write("this is plain HTTP, which anybody on the path can read: put a TLS proxy in front of \(endpoint)")
            }
        case .waitsForRestart:
            write("a new http address, or the first web or icecast line, takes effect after a restart")
        case .refused(let refusals, let host):
            let counts = refusals.map { "\($0.count) \($0.reason)" }.joined(separator: ", ")
            write(
                "refused over HTTP: \(counts)"
                    + (host.map { "; if \($0) is a name of this machine, write http-host \($0) into relay.conf" } ?? "")
            )
        case .proxyIgnored(let address):
            write(
                "\(address) names clients in X-Forwarded-For, which is ignored: if it is a proxy of yours, write web-proxy \(address) into relay.conf"
            )
        case .channelRefused(let channel, let error):
            Terminal.log("tenfour: nobody can hear \(channel) over HTTP: \(error)")
        }
    }

    /// Reports a new state of a feed.
    func report(_ feed: IcecastStatus) {
        if feed.isConnected {
            write("channel \(feed.channel) \(feed.sentence)")
        } else if feed.lastFailure != nil {
            Terminal.log("tenfour: channel \(feed.channel) \(feed.sentence)")
        }
    }
}
