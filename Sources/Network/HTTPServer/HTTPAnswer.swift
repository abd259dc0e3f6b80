/// An answer to a request: a status, header fields, and the bytes or the live stream that follow.
public struct HTTPAnswer {
    enum Body {
        case whole([UInt8])
        case stream(HTTPStream)
    }

    public var status: Int
    /// The header fields other than Content-Type. A field here replaces one of `HTTPAnswer.usualFields` with the same
    /// name.
    public var fields: [(name: String, value: String)]
    var contentType: String
    var body: Body

    /// Answers with `bytes`.
    public static func whole(
        _ bytes: [UInt8], contentType: String, status: Int = 200, fields: [(name: String, value: String)] = []
    ) -> HTTPAnswer {
        HTTPAnswer(status: status, fields: fields, contentType: contentType, body: .whole(bytes))
    }

    /// Answers with a sentence in plain text, for example what is wrong with the request.
    public static func text(_ sentence: String, status: Int = 200) -> HTTPAnswer {
        whole([UInt8]((sentence + "\n").utf8), contentType: "text/plain; charset=utf-8", status: status)
    }

    /// Answers with the bytes that `stream` sends from now on, until the client or the stream ends the connection.
    public static func stream(
        _ stream: HTTPStream, contentType: String, fields: [(name: String, value: String)] = []
    ) -> HTTPAnswer {
        HTTPAnswer(status: 200, fields: fields, contentType: contentType, body: .stream(stream))
    }

    /// Fields of every answer. They forbid a browser to cache the answer, to guess its type, to send a Referer, and to
    /// run or load anything. There is no Access-Control field, so pages of other sites cannot read the answer.
    static let usualFields: [(name: String, value: String)] = [
        ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
    ]

    /// All fields in the order in which they are sent.
    var allFields: [(name: String, value: String)] {
        let own = Set(fields.map { $0.name.lowercased() })
        let usual = Self.usualFields.filter { !own.contains($0.name.lowercased()) }
        return [("Content-Type", contentType)] + usual + fields
    }
}
