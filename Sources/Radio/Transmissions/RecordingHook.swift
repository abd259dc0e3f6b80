/// A command that runs when a recording begins and when it is complete.
///
/// It is started without a shell, with `start` or `end` and the file's path as its last arguments, and these variables in
/// its environment: `TRANSMISSION_EVENT` (`start` or `end`), `TRANSMISSION_FILE`, `TRANSMISSION_CHANNEL`,
/// `TRANSMISSION_TALKER` and `TRANSMISSION_START` (such as `2026-11-22T10:03:17Z`); at the end also
/// `TRANSMISSION_SECONDS`, `TRANSMISSION_LOSS` (in percent) and `TRANSMISSION_SCORE` (1 to 4.4). The path at the end is
/// another one than at the start if the talker's name was known only later. Variables that begin with
/// `TENFOUR_` are not passed on, because they may hold secrets and would set options. Standard input is empty, and standard
/// output is that of errors. At most four run at once; each is killed, with its children, after ten seconds.
public struct RecordingHook: Hashable, Sendable {
    /// The program, a path or a name in the PATH, and its first arguments. There must be at least one.
    public var arguments: [String]

    public init(arguments: [String]) {
        precondition(!arguments.isEmpty, "a hook needs a program")
        self.arguments = arguments
    }

    enum Event: String, Sendable { case start, end }

    /// One run of the command.
    struct Run: Hashable, Sendable {
        var arguments: [String]
        /// The variables that are added to the environment.
        var environment: [String: String]

        init(_ hook: RecordingHook, _ event: Event, _ transmission: Transmission, path: String) {
            arguments = hook.arguments + [event.rawValue, path]
            environment = [
                "TRANSMISSION_EVENT": event.rawValue, "TRANSMISSION_FILE": path,
                "TRANSMISSION_CHANNEL": transmission.channel.withoutNUL,
                "TRANSMISSION_TALKER": transmission.talker.withoutNUL,
                "TRANSMISSION_START": UTCTime(transmission.start).text,
            ]
            guard event == .end else { return }
            let seconds = (transmission.duration ?? .zero) / .seconds(1)
            environment["TRANSMISSION_SECONDS"] = OggTransmission.hundredths(seconds)
            environment["TRANSMISSION_LOSS"] = transmission.lossShare.map { OggTransmission.hundredths($0 * 100) }
            environment["TRANSMISSION_SCORE"] = transmission.score.map(OggTransmission.hundredths)
        }
    }
}

extension String {
    fileprivate var withoutNUL: String { replacing("\0", with: "") }
}
