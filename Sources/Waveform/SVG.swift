/// A drawing in SVG 1.1, in pixels from the upper left.
struct SVG {
    private var body = ""
    private let width: Double
    private let height: Double

    init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    mutating func rectangle(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ fill: String, opacity: Double = 1
    ) {
        let opacity = opacity < 1 ? " fill-opacity=\"\(number(opacity))\"" : ""
        body += "<rect x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" height=\"\(number(height))\" "
        body += "fill=\"\(fill)\"\(opacity)/>\n"
    }

    mutating func line(_ points: [(x: Double, y: Double)], _ stroke: String, width: Double = 1) {
        guard points.count > 1 else { return }
        let path = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
        body += "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(stroke)\" stroke-width=\"\(number(width))\"/>\n"
    }

    mutating func area(_ points: [(x: Double, y: Double)], _ fill: String) {
        let path = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
        body += "<polygon points=\"\(path)\" fill=\"\(fill)\"/>\n"
    }

    enum Anchor: String { case start, middle, end }

    mutating func text(
        _ text: String, _ x: Double, _ y: Double, size: Double = 12, _ fill: String, anchor: Anchor = .start,
        isBold: Bool = false
    ) {
        body += "<text x=\"\(number(x))\" y=\"\(number(y))\" font-size=\"\(number(size))\" fill=\"\(fill)\" "
        body += "text-anchor=\"\(anchor.rawValue)\"\(isBold ? " font-weight=\"bold\"" : "")>\(escaped(text))</text>\n"
    }

    var file: String {
        """
        <?xml version="1.0" encoding="UTF-8"?>
        <svg xmlns="http://www.w3.org/2000/svg" width="\(number(width))" height="\(number(height))" viewBox="0 0 \(
            number(width)) \(number(height))" font-family="DejaVu Sans, Helvetica, Arial, sans-serif">
        \(body)</svg>

        """
    }

    private func number(_ value: Double) -> String {
        guard value.isFinite else { return "0" }
        let tenths = Int((value * 100).rounded())
        return tenths % 100 == 0 ? "\(tenths / 100)" : "\(Double(tenths) / 100)"
    }

    private func escaped(_ text: String) -> String {
        text.reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            default: text.append(character)
            }
        }
    }
}
