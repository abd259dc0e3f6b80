public import ArgumentParser
internal import BadLink
internal import Glibc
internal import Network
public import Radio

extension ParsableCommand {
    /// Reads the arguments (unless told, those that were typed), runs, and ends the process with one of `Console.exitCodes`.
    /// What is to be said goes to standard error, help to standard output. `reminder` follows on wrong use.
    public static func runAndExit(
        named name: String, _ arguments: [String]? = nil, reminder: @autoclosure () -> String = ""
    ) -> Never {
        do {
            var command = try parseAsRoot(arguments)
            try command.run()
            Glibc.exit(0)
        } catch let error as RadioError {
            Console.say("\(name): \(error)")
            Glibc.exit(error.exitCode)
        } catch let error as NetworkError {
            Console.say("\(name): \(error)")
            Glibc.exit(RadioError(.unavailable, error.description).exitCode)
        } catch {
            // A network in words is an option like any other.
            let error = (error as? NetworkParameterError).map { ValidationError($0.description) } ?? error
            let code = exitCode(for: error)
            let isUsage = code == .validationFailure
            let text = fullMessage(for: error) + (isUsage ? reminder() : "")
            if !text.isEmpty {
                if code == .success { Console.put(text + "\n") } else { Console.say(text) }
            }
            Glibc.exit(isUsage ? 2 : code.rawValue)
        }
    }
}

extension Console {
    /// For the help of every command.
    public static let exitCodes = """
        Exit codes: 0 done, also by Ctrl-C; 1 it failed while it ran; 2 wrong use; 69 a device, file, port, host or channel is \
        not to be had; 78 a configuration has an error.
        """

    /// Standard output carries one thing: throws `.usage` where more than one of these options leads there, by a `-`.
    public static func checkStandardOutput(_ places: [(option: String, path: String?)]) throws(RadioError) {
        let options = places.filter { $0.path == "-" }.map(\.option)
        guard options.count > 1 else { return }
        throw RadioError(
            .usage, "\(options[0]) and \(options[1]) both write to standard output; name a file for one of them")
    }
}

extension RadioError {
    /// As BSD's sysexits has it where it has one.
    public var exitCode: Int32 {
        switch kind {
        case .usage: 2
        case .unavailable: EX_UNAVAILABLE
        case .configuration: EX_CONFIG
        case .failure: 1
        }
    }
}
