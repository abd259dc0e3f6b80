import ArgumentParser
import TenfourRadio
import TenfourTransmissions

/// The options of the commands that keep and record transmissions.
struct RecordOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Record each transmission as an Ogg Opus file in this directory, not encrypted. `tenfour log` lists them.",
            valueName: "directory"), completion: .directory)
    var record: String?

    @Option(
        help: ArgumentHelp(
            "How much the directory may hold: a size, an age or both, such as 500M or 2G,7d; or none. Default: \(RecordLimit.usual).",
            valueName: "limit"))
    var recordLimit: RecordLimitOption?

    @Option(
        help: ArgumentHelp(
            "Run this program with the word start or end and the file's path when a recording begins and is complete.",
            valueName: "program"), completion: .file())
    var recordHook: String?

    @Flag(help: "Do not keep the last ten minutes in memory, which the keys r and R play again.")
    var noHistory = false

    func validate() throws {
        guard record == nil else { return }
        if recordLimit != nil { throw ValidationError("--record-limit needs --record DIRECTORY") }
        if recordHook != nil { throw ValidationError("--record-hook needs --record DIRECTORY") }
    }

    /// Lets the session keep what it receives, and starts to record it. Returns nil without --record. `channel` is the channel's name, or
    /// that of the other end.
    func start(_ configuration: inout RadioConfiguration, channel: String) throws(RadioError) -> SessionRecording? {
        configuration.keepsHistory = !noHistory
        guard let record else { return nil }
        let recording = try SessionRecording(
            to: record, limit: recordLimit?.limit ?? .usual, hook: recordHook, channel: channel)
        configuration.packetTap = recording
        return recording
    }
}

struct RecordLimitOption: ExpressibleByArgument {
    var limit: RecordLimit

    init?(argument: String) {
        guard let limit = RecordLimit(argument) else { return nil }
        self.limit = limit
    }
}
