import Glibc
import TenfourAudioCore
import TenfourClocks
import TenfourPacing
import TenfourPushToTalk
import TenfourRadio

/// `tenfour radio` as a service: a session that is started again when it cannot start or has failed, for as long as it
/// takes. Use it on one thread.
final class RadioService {
    private let talk: Talk
    /// How other programs reach the station, also while no session runs.
    let control: StationControl
    private let manager = ServiceManager()
    /// The pauses between two starts. A random factor keeps many stations from joining a relay at the same time.
    private var backoff = Backoff(first: .seconds(1), longest: .seconds(30), spread: 0.8...1.2)
    private var nextReport = Instant.start
    private var lastStatus = ""

    /// The time between two reports to the service manager without a watchdog.
    private static let usualInterval = Duration.seconds(10)
    /// A session that has run for this time counts as a success.
    private static let success = Duration.seconds(60)
    /// The time after which a pause looks for a signal, in microseconds.
    private static let step: UInt32 = 100_000

    init(_ talk: Talk) {
        self.talk = talk
        control = StationControl(metrics: talk.common.metricsSettings)
    }

    /// Runs until a signal ends the process. Throws for settings that cannot work, whatever happens around them.
    func run() throws {
        Signals.catchEnd()
        // The socket may be the only key of a station without a terminal.
        if let notice = control.notice { warn(notice) }
        do throws(RadioError) { try control.metrics?.open() } catch { warn("\(error)") }
        control.setWaiting("starting")
        manager?.isReady("starting")
        defer {
            manager?.isStopping()
            control.stop()
        }
        while !Signals.hasEnd {
            let start = MonotonicClock.now
            do {
                try talk.run(as: self)
                // The input has ended, or a signal has come.
                return
            } catch let error as RadioError where error.kind == .unavailable || error.kind == .failure {
                if MonotonicClock.now - start >= Self.success { backoff.succeeded() }
                wait(after: error)
            }
        }
    }

    /// Tells the service manager, from time to time, that the session works. `status` is the line for `systemctl status`.
    func isAlive(_ status: String) {
        let now = MonotonicClock.now
        guard now >= nextReport || status != lastStatus else { return }
        (nextReport, lastStatus) = (now + interval, status)
        manager?.isAlive(status)
    }

    private var interval: Duration {
        min(manager?.watchdog.map { $0 / 2 } ?? Self.usualInterval, Self.usualInterval)
    }

    private func warn(_ notice: String) {
        if !talk.common.quiet { Terminal.log("\(JournalLevel.warning.prefix)tenfour: \(notice)") }
    }

    private func wait(after error: RadioError) {
        var generator = SystemRandomNumberGenerator()
        let pause = backoff.next(using: &generator)
        let seconds = max(Int((pause / .seconds(1)).rounded()), 1)
        Terminal.log("\(JournalLevel.error.prefix)tenfour: \(error); trying again in \(seconds) s")
        control.setWaiting("\(error)")
        let end = MonotonicClock.now + pause
        while !Signals.hasEnd, MonotonicClock.now < end {
            isAlive("waiting: \(error)")
            usleep(Self.step)
        }
    }
}
