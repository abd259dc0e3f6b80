import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourClocks
import TenfourCommandSupport
import TenfourRadio

/// Whether a command waits for a host whose name is not found, as when a station starts before its network.
struct HostWaitOptions: ParsableArguments {
    @Flag(
        help:
            "Wait until the name of the other end's host is found, and do not end with 69. A channel that is saved, or whose link is in a file or in TENFOUR_LINK, is always waited for."
    )
    var wait = false
}

/// Looks up the host of the other end, and looks it up again while it is not found.
struct HostWait {
    /// Whether the host is waited for; otherwise `find` throws the first error.
    var isPatient: Bool
    /// The longest time to wait; nil for as long as it takes.
    var limit: Duration?
    /// Prints a line for the user.
    var say: (String) -> Void = Terminal.log
    /// Returns the present.
    var clock: () -> Instant = { MonotonicClock.now }
    /// Lets time pass.
    var pause: (Duration) -> Void = { _ = usleep(UInt32($0 / .microseconds(1))) }

    /// The time between two lookups. It is short, because a lookup costs one datagram and the user waits.
    static let interval = Duration.seconds(1)

    /// Returns what `lookUp` returns. It is called again while its error says that a host is not found.
    func find<Found>(_ lookUp: () throws(RadioError) -> Found) throws(RadioError) -> Found {
        var hasSaid = false
        let start = clock()
        while true {
            do throws(RadioError) {
                let found = try lookUp()
                if hasSaid { say("tenfour: the host is found now") }
                return found
            } catch {
                guard isPatient, error.isUnknownHost else { throw error }
                if let limit, clock() - start >= limit { throw error }
                if !hasSaid { say("tenfour: \(error); waiting until it is found") }
                hasSaid = true
            }
            pause(Self.interval)
            // A signal was caught, as after the question for a passphrase.
            if Signals.hasEnd { Signals.endProcess() }
        }
    }
}
