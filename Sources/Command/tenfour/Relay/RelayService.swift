import TenfourAudioCore
import TenfourRelayCore
import TenfourRelayServer
import TenfourUV

/// A running relay as a service of systemd. All messages are sent by the relay's own loop: if the loop hangs, the
/// messages stop, and the service manager restarts the relay.
final class RelayService {
    let manager: ServiceManager
    private unowned let server: RelayServer
    private var timer: LoopTimer?

    /// Half of the watchdog's time, so that one late message does no harm; `usual` without a watchdog.
    private let interval: Duration
    private static let usual = Duration.seconds(10)

    /// Returns nil if no service manager has started this process.
    init?(_ server: RelayServer) {
        guard let manager = ServiceManager() else { return nil }
        self.manager = manager
        self.server = server
        interval = min(manager.watchdog.map { $0 / 2 } ?? Self.usual, Self.usual)
    }

    /// Reports that the relay is ready, and from then on that it works, while `loop` runs and this object lives.
    func begin(on loop: EventLoop) throws(NetworkError) {
        let timer = try loop.makeTimer { [unowned self, unowned loop] in
            manager.isAlive(status)
            self.timer?.arm(at: loop.now + interval)
        }
        self.timer = timer
        manager.isReady(status)
        timer.arm(at: loop.now + interval)
    }

    /// Reports that a new configuration has taken effect.
    func hasReloaded() { manager.isReady(status) }

    /// The line that `systemctl status` shows, such as `2 channels, 12 members, 1 talker`.
    private var status: String {
        let status = server.status
        func count(_ number: Int, _ what: String) -> String { "\(number) \(what)\(number == 1 ? "" : "s")" }
        let channels = status.relay.channels
        let members = channels.reduce(status.relay.paired?.memberCount ?? 0) { $0 + $1.memberCount }
        let talkers = channels.reduce(0) { $0 + $1.talkerCount }
        return [
            count(channels.count + status.plain.count + (status.relay.paired?.channelCount ?? 0), "channel"),
            count(members, "member"), count(talkers, "talker"),
        ].joined(separator: ", ")
    }
}
