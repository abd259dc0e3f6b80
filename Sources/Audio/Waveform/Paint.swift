/// Colours of a terminal's palette of 256 that are readable on dark and light backgrounds.
enum Paint: Int {
    case sound = 68
    case played = 33
    case peak = 103
    case faint = 245
    case concealed = 167
    case position = 172

    func on(_ text: String, _ hasColours: Bool) -> String {
        hasColours && !text.isEmpty ? "\u{1B}[38;5;\(rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Returns a line of the characters that `cell` returns, with a colour code before each run of one colour.
    static func line(
        hasColours: Bool, columnCount: Int, _ cell: (_ column: Int) -> (Character, Paint)
    ) -> String {
        var text = ""
        var run = ""
        var paint = Paint.sound
        for column in 0..<columnCount {
            let (character, next) = cell(column)
            if next != paint {
                text += paint.on(run, hasColours)
                (run, paint) = ("", next)
            }
            run.append(character)
        }
        return text + paint.on(run, hasColours)
    }
}
