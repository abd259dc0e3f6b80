import ArgumentParser
import Glibc
import TenfourCommandSupport
import TenfourJSON
import TenfourRadio
import TenfourTransmissions

/// `tenfour log`: lists what was recorded with `--record`.
struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "List the recorded transmissions and the missed calls: who talked or called when.",
        usage: """
            tenfour log [--follow] [--count <count>] [--json] [--record <directory>]
            tenfour log play [<number> ...] [--record <directory>]
            """,
        discussion: """
            tenfour log --record ~/radio
            tenfour log -f
            tenfour log play 17

            The list has the number of the recording, its start, the channel, the talker, the duration, the share that was lost, and the \
            score from 1 to 4.4. A recording without loss and score is being written or was cut off. The files are Ogg Opus, which \
            any player plays. They are not encrypted. Below the list are the missed calls: those that \
            were neither answered nor declined. With --follow, they are not listed.

            TENFOUR_RECORD in the environment sets the directory for this command and for those that record.
            """, subcommands: [LogPlay.self])

    @Flag(name: .shortAndLong, help: "After the list, print each new recording as soon as it is complete.")
    var follow = false

    @Option(
        name: [.customShort("n"), .long],
        help: ArgumentHelp(
            "List at most this many recordings and this many missed calls: the last ones.", valueName: "count"))
    var count: Int?

    @Flag(help: "Print one line of JSON for each recording and each missed call.")
    var json = false

    @Option(
        help: ArgumentHelp(
            "The directory of the recordings. Default: tenfour/recordings in $XDG_DATA_HOME or in ~/.local/share.",
            valueName: "directory"), completion: .directory)
    var record: String?

    func validate() throws {
        if let count, count < 0 { throw ValidationError("--count \(count) is out of range: write 0 or more.") }
    }

    /// The directory of the recordings.
    var directory: String { record ?? Self.usualDirectory }

    func run() throws {
        // The new recordings would stand below the missed calls, as if they were such.
        let missed = follow ? [] : Self.missedCalls
        // Without a recording there is no directory.
        if record == nil, !missed.isEmpty, unsafe access(directory, F_OK) != 0 { return show(missed) }
        let log = try Self.open(directory)
        // Watches before it lists, so that nothing is missed in between.
        let watch = try follow ? Self.watch(directory) : nil
        let total = log.count
        let entries = log.entries(max(total - (count ?? total), 0) + 1..<total + 1)
        if entries.isEmpty, missed.isEmpty, !follow { Terminal.log("tenfour: there are no recordings in \(directory)") }
        if !json, !entries.isEmpty || follow { Terminal.write(LogLine.heading + "\n") }
        show(entries)
        show(missed)
        if let watch { try follow(log, watch, after: entries) }
    }

    /// Prints what is completed until a signal ends the program. `listed` are the recordings that are printed already.
    private func follow(_ log: TransmissionLog, _ watch: RecordingWatch, after listed: [TransmissionLog.Entry]) throws {
        Signals.catchEnd()
        let complete = Set(listed.filter(\.isComplete).map(\.path))
        var newest = listed.map(\.transmission.start).max() ?? 0
        while !Signals.hasEnd {
            let entries: [TransmissionLog.Entry]
            switch watch.next(within: 200) {
            case nil: continue
            case .completed(let names): entries = log.entries(named: names)
            case .overflow: entries = log.entries().filter { $0.transmission.start > newest }
            case .isGone: throw RadioError(.failure, "the directory \(directory) was removed or moved")
            }
            show(entries.filter { !complete.contains($0.path) })
            newest = max(newest, entries.map(\.transmission.start).max() ?? 0)
        }
    }

    private func show(_ entries: [TransmissionLog.Entry]) {
        let lines = entries.map { json ? LogLine.json($0) : LogLine.text($0, now: time(nil)) }
        if !lines.isEmpty { Terminal.write(lines.joined(separator: "\n") + "\n") }
    }

    /// Prints the missed calls, at most `count`.
    private func show(_ calls: [MissedCalls.Call]) {
        let lines = calls.suffix(count ?? calls.count).map { json ? $0.json.line : LogLine.text($0, now: time(nil)) }
        if lines.isEmpty { return }
        Terminal.write((json ? lines : [LogLine.missedHeading] + lines).joined(separator: "\n") + "\n")
    }

    /// The missed calls that are kept; none if they cannot be read, about which it prints a sentence.
    private static var missedCalls: [MissedCalls.Call] {
        guard let path = MissedCallFile.usualPath else { return [] }
        do throws(UnusableFile) { return try MissedCallFile.read(path).calls } catch {
            Terminal.log("tenfour: missed calls are not listed: \(error.sentence)")
            return []
        }
    }

    /// Opens a directory of recordings. Throws `.unavailable` if it cannot be read.
    static func open(_ directory: String) throws(RadioError) -> TransmissionLog {
        do { return try TransmissionLog(directory) } catch { throw RadioError(.unavailable, error.description) }
    }

    private static func watch(_ directory: String) throws(RadioError) -> RecordingWatch {
        do { return try RecordingWatch(directory) } catch { throw RadioError(.unavailable, error.description) }
    }

    /// The directory that is used if no other is named.
    static var usualDirectory: String {
        func variable(_ name: String) -> String { unsafe getenv(name).map { unsafe String(cString: $0) } ?? "" }
        let data = variable("XDG_DATA_HOME")
        return (data.hasPrefix("/") ? data : variable("HOME") + "/.local/share") + "/tenfour/recordings"
    }
}
