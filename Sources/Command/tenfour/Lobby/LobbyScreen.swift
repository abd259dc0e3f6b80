import TenfourCommandSupport
import TenfourLobby

/// The picture of a station that waits: the stations nearby, and a line that says what can be pressed.
struct LobbyScreen: Equatable {
    var list = NearbyList()
    /// The station that the arrow keys have chosen; nil if none is.
    var chosen: NearbyStation.ID?
    /// The calls that were missed, of which the newest three are shown.
    var missed: [MissedCalls.Call] = []
    /// The line below the stations.
    var prompt = ""
    /// Whether the prompt ends with what is being typed, so that its end must be seen.
    var isTyping = false
    /// The words behind what is being typed, on a line of their own if there is no room.
    var typingHint = ""
    /// Whether nothing is said about an empty list, because nobody can be found.
    var isBlind = false

    private static let nameColumns = 8...28
    private static let missedCount = 3
    /// The greatest number of lines of the prompt.
    private static let promptLineCount = 3
    /// The narrowest terminal in which the names of hosts are shown.
    private static let hostWidth = 60

    /// The lines for a terminal of this size: at most `height`, each with at most `width` columns. The last ones are the
    /// prompt.
    func lines(width: Int, height: Int) -> [String] {
        let prompt = promptLines(width: width, height: height)
        return pictureLines(width: width, height: height - prompt.count + 1) + prompt
    }

    /// The lines above the prompt; `height` counts one line for the prompt.
    private func pictureLines(width: Int, height: Int) -> [String] {
        let missed = shownMissed(height: height).map { call in
            "     \(call.caller) called at \(People.clock(call.time))\(call.repetition)".cut(toColumns: width)
        }
        let shown = list.stations.prefix(stationCount(height: height))
        let otherCount = list.otherCount + list.stations.count - shown.count
        var lines = shown.map { line($0, width: width) }
        if otherCount > 0, height > 1 {
            lines.append("     \(lines.isEmpty ? "" : "and ")\(otherCount) more".cut(toColumns: width))
        } else if lines.isEmpty, height > 1, !isBlind {
            lines.append("     nobody is near yet".cut(toColumns: width))
        }
        return lines + missed
    }

    /// The prompt. It gets its lines before the list does, because it has the words to say.
    private func promptLines(width: Int, height: Int) -> [String] {
        let limit = min(max(height, 1), Self.promptLineCount)
        if isTyping {
            let line = "\(prompt)  \(typingHint)"
            if !typingHint.isEmpty, line.columnCount <= width { return [line] }
            let typed = prompt.cutFront(toColumns: width)
            return typingHint.isEmpty || limit < 2 ? [typed] : [typed, typingHint.cut(toColumns: width)]
        }
        let lines = prompt.wrapped(toColumns: width)
        let last = lines.count > limit ? [lines.dropFirst(limit - 1).joined(separator: " ")] : []
        return (lines.prefix(limit - last.count) + last).map { $0.cut(toColumns: width) }
    }

    /// The number of stations that are drawn in a picture of this size.
    func stationCount(width: Int, height: Int) -> Int {
        stationCount(height: height - promptLines(width: width, height: height).count + 1)
    }

    private func stationCount(height: Int) -> Int {
        // The prompt, and the line about those who are not shown.
        min(max(height - 2 - shownMissed(height: height).count, 0), list.stations.count)
    }

    private func shownMissed(height: Int) -> ArraySlice<MissedCalls.Call> {
        missed.suffix(min(Self.missedCount, max(height - 3, 0)))
    }

    private func line(_ station: NearbyStation, width: Int) -> String {
        let columns = min(max(width / 3, Self.nameColumns.lowerBound), Self.nameColumns.upperBound)
        var line = "\(station.id == chosen ? ">" : " ") \(station.digit)  " + station.name.fitted(toColumns: columns)
        if width >= Self.hostWidth { line += "  " + station.host.fitted(toColumns: columns) }
        return (line + "  " + Self.text(of: station)).cut(toColumns: width)
    }

    private static func text(of station: NearbyStation) -> String {
        switch station.reachability {
        case .answers(let time): "\(decimal(time / .milliseconds(1), places: 0)) ms"
        case .unreachable: "not reachable"
        case .unknown: station.takesCalls ? "" : "plain RTP"
        }
    }
}
