import ArgumentParser
import TenfourCommandSupport
import TenfourPlayer
import TenfourRadio

/// The options for the order of the queue and the way from one item to the next.
struct QueueOptions: ParsableArguments {
    @Flag(help: "Play the queue in a random order, each item once.")
    var shuffle = false

    @Option(
        name: .customLong("repeat"),
        help: ArgumentHelp(
            "Repeat one item or all of the queue without end; --loop is the same as --repeat all.",
            valueName: "one|all"))
    var repeats: RepeatChoice?

    @Option(
        help: ArgumentHelp(
            "Let an item fade out over this time while the next one fades in, at most 30s; tracks of a CUE sheet follow without a gap instead. A bare number is in seconds.",
            valueName: "time"))
    var crossfade = Time<BareSeconds>(.zero)

    @Flag(
        help: "Begin where the queue, and an item of 10 minutes or more, was left; remember where it is left now.")
    var resume = false

    func validate() throws {
        guard crossfade.duration <= .seconds(30) else {
            throw ValidationError("--crossfade is too long: write 30s or less.")
        }
    }

    /// Throws if an option cannot be used together with `--loop` or an output file. Called by `validate`.
    func check(loop: Bool, writesFile: Bool) throws {
        if loop, repeats == .one {
            throw ValidationError("--loop and --repeat one exclude each other: write one of them.")
        }
        if repeats != nil, writesFile {
            throw ValidationError("--repeat never ends, so it cannot write a file: leave out --repeat, or -o.")
        }
        if resume, writesFile {
            throw ValidationError("--resume is for playing on a card: write --start to begin a file later.")
        }
    }

    func apply(to configuration: inout StreamerConfiguration, loop: Bool) {
        configuration.isShuffled = shuffle
        configuration.crossfade = crossfade.duration
        configuration.repeats = loop ? .all : repeats?.mode ?? .none
    }
}

/// What `--repeat` repeats.
enum RepeatChoice: String, ExpressibleByArgument, CaseIterable {
    case one, all

    var mode: RepeatMode { self == .one ? .one : .all }
}
