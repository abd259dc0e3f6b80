import TenfourCommandSupport

/// A line that a person types while the screen is drawn.
struct LineInput: Equatable {
    private(set) var text = ""

    enum Action: Equatable {
        case none
        case done(String)
        case cancelled
    }

    /// The longest line in characters. More is ignored.
    static let maximumLength = 255

    /// Takes a key. Enter ends the line, Escape gives it up, Ctrl-U empties it.
    mutating func append(_ key: TerminalKey) -> Action {
        guard case .character(let character) = key else { return .none }
        switch character {
        case "\n", "\r", "\r\n": return .done(text)
        case "\u{1B}", "\u{4}": return .cancelled
        case "\u{7F}", "\u{8}": if !text.isEmpty { text.removeLast() }
        case "\u{15}": text = ""
        default:
            let isVisible = character.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            if isVisible, text.count < Self.maximumLength { text.append(character) }
        }
        return .none
    }
}
