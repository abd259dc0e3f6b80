import ArgumentParser
import TenfourAudioCore
import TenfourCall

/// The options of `tenfour talk` for stations that find each other.
struct LobbyOptions: ParsableArguments {
    @Flag(help: "Without a host: do not announce this station to others nearby.")
    var hidden = false

    @Option(
        help: ArgumentHelp(
            "Without a host: accept calls from this name at once, or from everybody if no name is given. Names prove nothing: anybody who can reach the port can be heard then, and hear you while the microphone is open.",
            valueName: "name"))
    var autoAnswer: [String] = []

    @Flag(help: "Without a host, in a terminal: also show a desktop notification when somebody calls.")
    var notify = false

    /// The value of `--auto-answer` for everybody's calls. It is no argument that can be typed.
    static let everybody = "\0"

    /// Returns `arguments` of `tenfour` with a value for `--auto-answer` where it stands alone.
    static func withNames(_ arguments: [String]) -> [String] {
        guard arguments.first == "talk" else { return arguments }
        return arguments.enumerated().map { index, argument in
            let next = arguments.dropFirst(index + 1).first
            let isAlone = argument == "--auto-answer" && next?.hasPrefix("-") ?? true
            return isAlone ? "\(argument)=\(everybody)" : argument
        }
    }

    /// The way in which calls are answered. Without a keyboard, nobody can be asked.
    func answering(hasKeyboard: Bool) -> StationCall.Answering {
        guard !answersEverybody else { return .automatic }
        let names = Set(autoAnswer.map { String(fromPeer: $0).lowercased() })
        return hasKeyboard ? .byPerson(acceptingAtOnce: names) : .onlyFrom(names)
    }

    private var answersEverybody: Bool { autoAnswer.contains(Self.everybody) }

    /// The end of the sentence that calls are waited for.
    var manner: String {
        if autoAnswer.isEmpty { return "" }
        let names = autoAnswer.map { String(fromPeer: $0) }.joined(separator: " and ")
        return "; \(answersEverybody ? "they" : "those of \(names)") are accepted at once"
    }

    /// Throws if a name is empty: each caller without a name would have it.
    func checkNames() throws {
        if autoAnswer.contains(where: { $0.allSatisfy(\.isWhitespace) }) {
            throw ValidationError("--auto-answer has an empty name: write the name of a caller, or none for everybody")
        }
    }

    /// Throws if an option was written that has no meaning with an address or a link.
    func checkUnused(withAddress isAddress: Bool, orLink isLink: Bool) throws {
        guard isAddress || isLink else { return }
        let options = [("--hidden", hidden), ("--auto-answer", !autoAnswer.isEmpty), ("--notify", notify)]
        if let (name, _) = options.first(where: { $0.1 }) {
            throw ValidationError("\(name) is for a station that waits for calls: leave out the address")
        }
    }
}
