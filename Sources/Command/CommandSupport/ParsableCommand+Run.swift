public import ArgumentParser
internal import Glibc
internal import TenfourNetworkEmulator
public import TenfourRadio
internal import TenfourUV

extension ParsableCommand {
    /// Parses `arguments` (nil: the arguments of the process), runs the command and exits with one of
    /// `Console.exitCodes`. Messages go to standard error and begin with `name`; help goes to standard output. `check`
    /// is called before the arguments are parsed. `usual` holds, by command, the options that `--help` shows;
    /// `--help-all` shows all. `reminder` is appended to usage errors.
    public static func runAndExit(
        named name: String, _ arguments: [String]? = nil, usual: [String: [String]] = [:],
        check: () throws -> Void = {}, reminder: @autoclosure () -> String = ""
    ) -> Never {
        let arguments = arguments ?? Array(CommandLine.arguments.dropFirst())
        do {
            try check()
            var command = try parseAsRoot(arguments)
            try command.run()
            Glibc.exit(0)
        } catch let error as RadioError {
            Console.log("\(name): \(error)")
            Glibc.exit(error.exitCode)
        } catch let error as NetworkError {
            Console.log("\(name): \(error)")
            Glibc.exit(RadioError(.unavailable, error.description).exitCode)
        } catch {
            // Treats an error in a network description as a usage error.
            let error = (error as? NetworkParameterError).map { ValidationError($0.description) } ?? error
            let code = exitCode(for: error)
            let text = fullMessage(for: error)
            if code == .success {
                if !text.isEmpty { Console.write((help(text, for: arguments, usual: usual) ?? text) + "\n") }
                Glibc.exit(0)
            }
            let isUsage = code == .validationFailure
            Console.log("\(name): \(Usage(text).sentence)\(isUsage ? reminder() : "")")
            Glibc.exit(isUsage ? 2 : code.rawValue)
        }
    }
}

/// A message of the argument parser about invalid arguments, split into its parts:
///
///     Error: The value '80000' is invalid for '-p <port>'
///     Help:  -p, --port <port>  The port to receive on, 1 to 65535.
///     Usage: tenfour recv [<address>] …
///       See 'tenfour recv --help' for more information.
struct Usage {
    private var message = ""
    private var help = ""
    /// The values that the option accepts, if the parser lists them.
    private var choices: [String] = []
    /// The command that shows the help; empty if the message has no usage line.
    private var command = ""

    init(_ text: String) {
        var part = \Self.message
        command = Self.helpCommand(in: text)
        for line in text.split(separator: "\n") {
            var words = line.split(separator: " ", omittingEmptySubsequences: true)[...]
            switch words.first {
            case "Error:": words.removeFirst()
            case "Help:":
                part = \.help
                words = line.dropFirst(5).drop { $0 == " " }.split(separator: "  ").dropFirst()
            case "Usage:": part = \.command
            // Ends at the whole help, which the parser prints instead of the usage if an argument is missing.
            case "OVERVIEW:": return
            default: break
            }
            if part == \.command {
                if words.first == "See" { command = words.dropFirst().prefix { $0 != "for" }.joined(separator: " ") }
                // Names `--help`: the parser names `--help-all`, the option's longest name.
                command = command.replacing("--help-all", with: "--help")
                continue
            }
            if part == \Self.message, words.first == "-" {
                choices.append(words.dropFirst().joined(separator: " "))
                continue
            }
            self[keyPath: part] += (self[keyPath: part].isEmpty ? "" : " ") + words.joined(separator: " ")
        }
    }

    /// Extracts `'tenfour plot --help'` from the line "USAGE: tenfour plot song.mp3 …"; empty if `text` has no usage
    /// line.
    private static func helpCommand(in text: String) -> String {
        guard let usage = text.split(separator: "\n").first(where: { $0.hasPrefix("USAGE: ") }) else { return "" }
        let names = usage.dropFirst(7).split(separator: " ").prefix {
            $0.first != "-" && $0.allSatisfy { $0.isLetter || $0 == "-" }
        }
        return names.isEmpty ? "" : "'\(names.joined(separator: " ")) --help'"
    }

    /// One sentence: the error, the remedy, and the command that shows the help.
    var sentence: String {
        let wrong = choices.isEmpty ? message : message.split(separator: ". Please").first.map(String.init) ?? message
        let right = choices.isEmpty ? help : "write " + choices.joined(separator: ", ")
        let parts = [Self.begun(wrong), Self.begun(right)].filter { !$0.isEmpty }
        let text = parts.joined(separator: ": ")
        guard !command.isEmpty else { return text }
        return text.hasSuffix("?") ? "\(text) (see \(command))" : "\(text); see \(command)"
    }

    /// Returns `text` as a part of a sentence: without a full stop, and with a lower-case first letter, unless its
    /// first word is in capital letters.
    private static func begun(_ text: String) -> String {
        // Tenfour's own messages say it after a colon, too.
        let text = text.replacing(". Did you mean ", with: ": did you mean ")
        let isWord = text.dropFirst().first?.isLowercase ?? false || text.dropFirst().first == " "
        let begun = isWord ? text.prefix(1).lowercased() + text.dropFirst() : text
        return begun.hasSuffix(".") ? String(begun.dropLast()) : begun
    }
}

extension Console {
    /// The exit codes, for every command's help.
    public static let exitCodes = """
        Exit codes: 0 success, also after Ctrl-C; 1 failure while running; 2 usage error; 69 a device, file, port, host or channel is \
        unavailable; 78 configuration error.
        """

    /// Throws `.usage` if more than one of the options in `places` has the value `-`, which is standard output.
    public static func checkStandardOutput(_ places: [(option: String, path: String?)]) throws(RadioError) {
        let options = places.filter { $0.path == "-" }.map(\.option)
        guard options.count > 1 else { return }
        throw RadioError(
            .usage, "\(options[0]) and \(options[1]) both write to standard output; name a file for one of them")
    }
}

extension RadioError {
    /// The process's exit code for this error: the code of BSD's sysexits.h if that defines one for this kind of error.
    public var exitCode: Int32 {
        switch kind {
        case .usage: 2
        case .incomplete: 3
        case .unavailable: EX_UNAVAILABLE
        case .configuration: EX_CONFIG
        case .failure: 1
        }
    }
}
