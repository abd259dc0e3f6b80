public import ArgumentParser
internal import Glibc
public import Radio

extension ParsableCommand {
    /// Reads the arguments, runs, and ends the process: 0 done, 1 it failed while it ran, 2 wrong use, 69 a device, file, port
    /// or host is not to be had; what is to be said goes to standard error, help to standard output.
    public static func runAndExit(named name: String) -> Never {
        do {
            var command = try parseAsRoot()
            try command.run()
            Glibc.exit(0)
        } catch let error as RadioError {
            Console.say("\(name): \(error)")
            Glibc.exit(error.exitCode)
        } catch {
            let code = exitCode(for: error)
            let isUsage = code == .validationFailure
            let text = fullMessage(for: error)
            if !text.isEmpty {
                if code == .success { Console.put(text + "\n") } else { Console.say(text) }
            }
            Glibc.exit(isUsage ? 2 : code.rawValue)
        }
    }
}

extension RadioError {
    /// As BSD's sysexits has it where it has one.
    public var exitCode: Int32 {
        switch kind {
        case .usage: 2
        case .unavailable: EX_UNAVAILABLE
        case .failure: 1
        }
    }
}
