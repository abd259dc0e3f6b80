internal import TenfourAudioCore
public import TenfourSession

/// An error in a relay's configuration: the line, file or option in which it is, and its reason. The description also
/// states the remedy. It never contains a part of a key.
public struct RelayFileError: Error, Hashable, Sendable {
    public var place: Place
    public var reason: Reason

    init(_ place: Place, _ reason: Reason) {
        self.place = place
        self.reason = reason
    }

    /// The error for the file at `path` if it cannot be read. It is thrown by a caller that opens the file itself.
    public init(unreadable path: String) { self.init(.whole, .unreadable(path)) }

    /// The error for the file at `path` if other users may read or change it and its keys. It is thrown by a caller
    /// that opens the file itself. `remedy` is the whole message: the problem and its remedy.
    public init(open path: String, _ remedy: String) { self.init(.file(path), .open(remedy)) }

    /// The error in a line of the file at `path`, or in the whole file. It is thrown by a caller that parses the file
    /// itself. `message` is the whole message: the problem and its remedy.
    public init(_ line: Int?, of path: String, _ message: String) {
        self.init(line.map { .line($0, of: path) } ?? .file(path), .message(message))
    }

    fileprivate var isMissingFile: Bool {
        switch reason {
        case .unreadable, .open: true
        default: false
        }
    }

    public enum Place: Hashable, Sendable {
        /// A line of a file, counted from 1.
        case line(Int, of: String)
        case file(String)
        /// A command-line option.
        case option(String)
        case whole
    }

    public enum Reason: Hashable, Sendable {
        case tooLarge
        case notUTF8
        /// A file of which no line is one of a relay's configuration.
        case foreign
        case unknown(String)
        /// A setting whose value is missing, or is not of the kind that the setting requires.
        case value(String, Value)
        case again(String)
        case channelForm
        case name
        /// An invalid join key after `talk=` or `listen=`.
        case key(String)
        /// An invalid key after `owner=`.
        case owner
        /// A join key that the channel of this name already has.
        case keyAgain(String)
        case target
        case announcedAddress(Endpoint)
        case unreadable(String)
        /// A file that other users may read or change. The text is the whole message.
        case open(String)
        case tooMany(String)
        case plainAndEncrypted(String)
        case circle(String, Endpoint)
        case noInput(String)
        case noTarget(String)
        case noChannel
        /// A line about a channel that has no line of its own.
        case unknownChannel(String)
        /// Any other error. The text is the whole message: the problem and its remedy.
        case message(String)
    }

    public enum Value: Hashable, Sendable {
        case address, listening, host, path, icecast, input, output, floor, `switch`
        case number(ClosedRange<Int>)
    }

    /// Returns a word for an error message, without text that could be a key: at most 20 bytes long, and cut off before
    /// an equal sign.
    static func shown(_ word: String) -> String {
        let word = word.prefix { $0 != "=" }
        return word.utf8.count <= 20 ? String(fromPeer: String(word)) : "a long word"
    }
}

/// The first 20 errors in a relay's configuration, and the total number of errors.
public struct RelayFileErrors: Error, Hashable, Sendable {
    public private(set) var first: [RelayFileError] = []
    public private(set) var count = 0

    /// The maximum number of errors that are stored. A file that is no configuration has an error in every line.
    public static let maximumCount = 20

    /// An empty list, to which errors are added.
    init() {}

    /// A list of one error, for a caller that opens the file itself and fails.
    public init(_ error: RelayFileError) { note(error) }

    public var isEmpty: Bool { count == 0 }

    /// Whether all errors concern files that could not be read, or that other users may read or change. It is false if
    /// there is an invalid setting.
    public var isMissingFile: Bool { first.allSatisfy(\.isMissingFile) }

    /// Replaces the errors after `earlier` by one.
    mutating func replace(after earlier: Self, with error: RelayFileError) {
        self = earlier
        note(error)
    }

    mutating func note(_ error: RelayFileError) {
        count += 1
        if first.count < Self.maximumCount { first.append(error) }
    }
}

extension RelayFileErrors: CustomStringConvertible {
    /// One line per error; all but the first are indented by two spaces.
    public var description: String {
        let more = count > first.count ? ["and \(count - first.count) more"] : []
        return (first.map(\.description) + more).joined(separator: "\n  ")
    }
}

extension RelayFileError: CustomStringConvertible {
    public var description: String { "\(place): \(reason)" }
}

extension RelayFileError.Place: CustomStringConvertible {
    public var description: String {
        switch self {
        case .line(let number, let source): "\(String(fromPeer: source)), line \(number)"
        case .file(let source): String(fromPeer: source)
        case .option(let option): option
        case .whole: "the configuration"
        }
    }
}

extension RelayFileError.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLarge:
            "the file is larger than \(RelayFile.maximumByteCount >> 20) MiB, so it is not a relay's configuration; check its path"
        case .notUTF8: "the file is not UTF-8; check its path, or save it as UTF-8"
        case .foreign: "the file is not a relay's configuration; check its path (`tenfour relay --example` shows one)"
        case .unknown(let word): "'\(word)' is not a known setting; `tenfour relay --example` shows all settings"
        case .value(let word, let value): "\(word) needs \(value)"
        case .again(let what): "\(what) appears a second time; keep one of the two"
        case .channelForm:
            """
            write: channel NAME talk=KEY listen=KEY, as `tenfour channel new` and `tenfour channel keys` print it, with owner=KEY \
            if it has one, then the channel's own limits, if any: members=NUMBER, talkers=NUMBER, voices=NUMBER, bits=NUMBER, talker-packets=NUMBER, talker-bits=NUMBER, \
            and for the floor: floor=on|required, talk-time=SECONDS
            """
        case .name:
            "a channel's name must have 1 to 32 characters from a-z, 0-9, '-', '.' and '_', and begin with a letter or digit"
        case .key(let role): "the value of \(role)= is not a join key: a join key has 52 letters and digits"
        case .owner:
            "the value of owner= is not an owner's key: it has 52 letters and digits, and `tenfour channel keys` prints it"
        case .keyAgain(let name): "channel \(name) already has this key; each channel needs two keys of its own"
        case .target: "write one ADDRESS:PORT in numbers, such as 10.0.0.7:5004 or [2001:db8::7]:5004"
        case .announcedAddress(let target):
            "\(target) is not a multicast group, and only multicast groups can be announced; remove ,sap"
        case .unreadable(let path): "\(String(fromPeer: path)) cannot be read; check its path and permissions"
        case .open(let remedy): remedy
        case .tooMany(let what): "there are too many \(what); remove some"
        case .plainAndEncrypted(let name):
            "channel \(name) is encrypted, and a plain channel cannot have the same name; rename one of them"
        case .circle(let name, let target):
            "channel \(name) goes to \(target), where this relay itself receives RTP: packets would loop; write another address"
        case .noInput(let name): "channel \(name) has no input: add rtp-in \(name)=BIND:PORT"
        case .noTarget(let name): "channel \(name) has no output: add rtp-out \(name)=ADDRESS:PORT or web \(name)"
        case .noChannel:
            "no channel is configured: add the line that `tenfour channel new` prints, or `relay-key FILE` and `pair on`"
        case .unknownChannel(let name): "there is no channel \(name); add its line, or correct the name"
        case .message(let text): text
        }
    }
}

extension RelayFileError.Value: CustomStringConvertible {
    public var description: String {
        switch self {
        case .address: "ADDRESS:PORT of this machine in numbers, such as 127.0.0.1:8080, 0.0.0.0:5004 or [::]:5004"
        case .listening: "a port, such as 9104, or ADDRESS:PORT of this machine in numbers, such as 10.0.0.7:9104"
        case .host: "HOST or HOST:PORT, as in members' links"
        case .floor: "the value on, if members may ask for the floor, or required, if they must"
        case .switch: "the value on or off"
        case .icecast: "CHANNEL=FILE, such as family=icecast.conf"
        case .path: "a path of up to 107 bytes"
        case .input:
            "CHANNEL=BIND:PORT or CHANNEL=BIND:PORT,from=ADDRESS in numbers, such as studio=0.0.0.0:6000,from=10.0.0.7"
        case .output:
            "CHANNEL=ADDRESS:PORT or CHANNEL=ADDRESS:PORT,sap in numbers, or CHANNEL=@FILE, such as studio=239.0.1.10:5004"
        case .number(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        }
    }
}
