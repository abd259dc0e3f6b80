import ArgumentParser
import TenfourAudioCore
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourRadio

/// Checks the name of a command.
enum CommandNames {
    /// Throws `.usage`, with the most similar command name, if `typed` begins with an unknown command, or is a former one.
    static func check(_ typed: [String]) throws(RadioError) {
        if typed.first == "talk", typed.contains("--pair") {
            throw RadioError(.usage, "talk --pair has become a command: write tenfour pair")
        }
        var command: any ParsableCommand.Type = Tenfour.self
        var path = "tenfour"
        for word in typed {
            let known = command.configuration.subcommands
            guard !known.isEmpty, !word.hasPrefix("-"), word != "help" else { return }
            guard let next = known.first(where: { $0._commandName == word }) else {
                throw RadioError(.usage, refusal(of: word, behind: path, among: known.map { $0._commandName }))
            }
            command = next
            path += " " + word
        }
    }

    /// The names of the programs in Tools.
    private static let tools: Set = [
        "audiowatch", "badlink", "benchmark", "chirpmeter", "demo", "desktop", "docs", "fuzz", "labcard",
        "package", "pictures", "radiocheck", "replay", "root", "test",
    ]

    private static func refusal(of word: String, behind path: String, among known: [String]) -> String {
        let help = "\(path) --help lists the commands"
        if word.contains("://") {
            return "'\(word)' is an address, not a command: write a command before it; \(help)"
        }
        if path == "tenfour", tools.contains(word) {
            let place = ToolName.installed(word) ?? "Tools/\(word) in tenfour's source tree"
            return "'\(word)' is a separate tool, \(place); \(help)"
        }
        let nearest = Spelling.nearest(to: word, among: known)
        let remedy = nearest.isEmpty ? "" : "write \(path) \(nearest.joined(separator: " or ")); "
        return "there is no command '\(path) \(String(fromPeer: word))': \(remedy)\(help)"
    }
}
