import ArgumentParser
import TenfourCommandSupport

/// The options of `tenfour plot` for what is drawn of a recording.
struct PlottedPart: ParsableArguments {
    @Option(
        name: [.customLong("start"), .customLong("seek")],
        help: ArgumentHelp(
            "Where the drawn part begins: 1:23, 1:02:03, 83s, 1m; a bare number is in seconds.", valueName: "time"))
    var start: ClockTime?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The duration of the drawn part; a bare number is in seconds.", valueName: "time"))
    var duration: Time<BareSeconds>?

    @Flag(help: "Draw each channel in a row of its own.")
    var channels = false

    @Flag(help: "Scale the loudest bar to the full height.")
    var normalize = false

    func validate() throws {
        guard duration.map({ $0.duration > .zero }) ?? true else {
            throw ValidationError("--duration 0 is too short: write 1ms or more.")
        }
    }

    /// Returns `arguments` of `tenfour` with `--channels COUNT`, as `plot` took it before and other commands take it, in its
    /// present form `-c COUNT`. A number cannot be the file that is drawn, unless it is written as a path such as `./2`.
    static func withCount(_ arguments: [String]) -> [String] {
        guard arguments.first == "plot" else { return arguments }
        var changed: [String] = []
        for argument in arguments {
            let name = "--channels="
            if argument.hasPrefix(name) {
                changed += ["-c", String(argument.dropFirst(name.count))]
            } else if changed.last == "--channels", Int(argument) != nil {
                changed[changed.count - 1] = "-c"
                changed.append(argument)
            } else {
                changed.append(argument)
            }
        }
        return changed
    }
}
