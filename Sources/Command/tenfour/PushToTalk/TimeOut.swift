import ArgumentParser
import TenfourCommandSupport

/// The longest transmission: a time of at least a second, or `none`.
struct TimeOut: ExpressibleByArgument {
    /// Nil for no limit.
    var duration: Duration?

    init?(argument: String) {
        guard argument != "none" else { return }
        guard let time = Time<BareSeconds>(argument: argument), time.duration >= .seconds(1) else { return nil }
        duration = time.duration
    }
}
