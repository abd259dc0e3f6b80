/// The address of a mount point of an Icecast server, the login of its source, and the texts that the server shows.
public struct IcecastSettings: Sendable, Hashable {
    public var host: String
    public var port: UInt16 = 8_000
    /// The path of the mount point, such as `/family.ogg`.
    public var mount: String
    public var user = "source"
    public var password: String
    /// Whether the connection is encrypted. If so, the password is never sent over a connection that is not.
    public var usesTLS = false
    /// Whether the server may list the stream in a public directory.
    public var isPublic = false
    /// The server shows these texts to its listeners; an empty one is not shown.
    public var name = ""
    public var description = ""
    public var genre = ""

    /// The server and its mount point, such as `radio.example.org:8000/family.ogg`.
    public var target: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)\(mount)" }

    public init(host: String, mount: String, password: String) {
        (self.host, self.mount, self.password) = (host, mount, password)
    }
}

/// An error in a file with the settings of an Icecast server. The text never contains the password.
public struct IcecastFileError: Error, Hashable, Sendable {
    /// The line, counted from 1; nil if the error concerns the whole file.
    public let line: Int?
    /// The problem and its remedy.
    public let message: String

    init(line: Int? = nil, _ message: String) { (self.line, self.message) = (line, message) }
}

extension IcecastSettings {
    /// An example of a file with all settings.
    public static let example = """
        # Only you may read this file, because it contains a password: chmod 600 icecast.conf
        host radio.example.org
        port 8000
        mount /family.ogg
        user source
        password hackme
        tls no
        public no
        name Family radio
        description What the family says
        genre talk

        """

    /// The maximum length of a file, in bytes.
    public static let maximumByteCount = 1 << 16

    /// Parses a file: each line is a word and its value, and `#` begins a line of comment.
    public init(parsing bytes: [UInt8]) throws(IcecastFileError) {
        guard bytes.count <= Self.maximumByteCount, let text = String(validating: bytes, as: UTF8.self) else {
            throw IcecastFileError("the file is not a short UTF-8 text; check its path")
        }
        self.init(host: "", mount: "", password: "")
        var known: Set<Substring> = []
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let words = Self.trimmed(line).split(maxSplits: 1, whereSeparator: \.isWhitespace)
            guard let word = words.first, !word.hasPrefix("#") else { continue }
            func refuse(_ text: String) -> IcecastFileError { IcecastFileError(line: index + 1, text) }
            // Does not quote an unknown word, because it may be a password without its word.
            guard Self.words.contains(word) else {
                throw refuse(
                    "the line begins with an unknown setting; the settings are \(Self.words.joined(separator: ", "))")
            }
            guard words.count == 2 else { throw refuse("\(word) has no value; write: \(word) VALUE") }
            guard known.insert(word).inserted else { throw refuse("\(word) appears twice; keep one") }
            if let problem = set(word, String(Self.trimmed(words[1]))) { throw refuse(problem) }
        }
        for (word, value) in [("host", host), ("mount", mount), ("password", password)] where value.isEmpty {
            throw IcecastFileError("there is no \(word); add a line: \(word) VALUE")
        }
    }

    /// Sets one setting. Returns the problem and its remedy if the word or its value is invalid.
    private mutating func set(_ word: Substring, _ value: String) -> String? {
        guard value.utf8.count <= 255, !value.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 })
        else {
            return "the value of \(word) is too long, or has control characters; write a shorter text"
        }
        switch word {
        case "host":
            guard !value.contains(where: { $0.isWhitespace || $0 == "/" }) else {
                return "host needs a host name or an address, without http:// and without a port"
            }
            host = value
        case "port":
            guard let number = UInt16(value), number > 0 else { return "port needs a number from 1 to 65535" }
            port = number
        case "mount":
            guard value.hasPrefix("/"), value.utf8.count > 1, !value.contains(where: { $0.isWhitespace || $0 == "?" })
            else { return "mount needs a path that begins with /, such as /family.ogg" }
            mount = value
        case "user": user = value
        case "password": password = value
        case "tls", "public":
            guard let isOn = ["yes": true, "no": false][value] else { return "\(word) needs yes or no" }
            if word == "tls" { usesTLS = isOn } else { isPublic = isOn }
        case "name": name = value
        case "description": description = value
        default: genre = value
        }
        return nil
    }

    private static let words: [Substring] = [
        "host", "port", "mount", "user", "password", "tls", "public", "name", "description", "genre",
    ]

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop(while: \.isWhitespace)
        while text.last?.isWhitespace ?? false { text.removeLast() }
        return text
    }
}
