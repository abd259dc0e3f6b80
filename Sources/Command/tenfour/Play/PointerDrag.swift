import TenfourAudioCore
import TenfourCommandSupport

/// A press of the mouse that is followed until its release, and the seeks that follow from it.
///
/// A report tells the place on the screen, and the picture stands where the cursor is: the terminal is asked for the
/// cursor's line after each press. Knows no terminal and no clock.
struct PointerDrag {
    enum Action: Equatable {
        case none
        /// Ask the terminal for the cursor's line, and call `locate` with the answer.
        case ask
        case seek(column: Int)
    }

    private var state = State.idle
    private var lastSeek = Instant.start

    private enum State: Equatable {
        case idle
        /// The button was pressed in `line`. Whether that is in the picture is not known yet.
        case pressed(line: Int, column: Int, isReleased: Bool)
        /// The pointer is in `column`; the last seek led to the column `sought`.
        case dragging(column: Int, sought: Int)
    }

    /// The shortest time between two seeks while the mouse moves.
    static let interval = Duration.milliseconds(150)

    /// The column under the pointer while it is dragged; nil if it is not.
    var column: Int? { if case .dragging(let column, _) = state { column } else { nil } }

    mutating func handle(_ report: MouseReport, at now: Instant) -> Action {
        switch (state, report.action) {
        case (_, .press):
            state = .pressed(line: report.line, column: report.column, isReleased: false)
            return .ask
        case (.pressed(let line, _, isReleased: false), .drag):
            state = .pressed(line: line, column: report.column, isReleased: false)
        case (.pressed(let line, _, isReleased: false), .release):
            state = .pressed(line: line, column: report.column, isReleased: true)
        case (.dragging(_, let sought), .drag):
            let isDue = now - lastSeek >= Self.interval && report.column != sought
            state = .dragging(column: report.column, sought: isDue ? report.column : sought)
            if isDue { return seek(report.column, at: now) }
        case (.dragging(_, let sought), .release):
            state = .idle
            if report.column != sought { return seek(report.column, at: now) }
        case (.idle, .drag), (.idle, .release), (.pressed, .drag), (.pressed, .release): break
        }
        return .none
    }

    /// Takes the answer to `.ask`: the picture has the lines `lines` of the screen.
    mutating func locate(_ lines: Range<Int>, at now: Instant) -> Action {
        guard case .pressed(let line, let column, let isReleased) = state else { return .none }
        guard lines.contains(line) else {
            state = .idle
            return .none
        }
        state = isReleased ? .idle : .dragging(column: column, sought: column)
        return seek(column, at: now)
    }

    /// Forgets a press, as when the picture is gone.
    mutating func cancel() { state = .idle }

    private mutating func seek(_ column: Int, at now: Instant) -> Action {
        lastSeek = now
        return .seek(column: column)
    }
}
