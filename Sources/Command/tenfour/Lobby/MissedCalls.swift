import TenfourAudioCore
import TenfourJSON
import TenfourSession

/// The calls that were neither answered nor declined here, oldest first, as the text of a file. Knows no files
/// and no clock.
struct MissedCalls: KeptTable, Equatable {
    private(set) var calls: [Call] = []

    /// The calls from one address within one minute.
    struct Call: Equatable {
        /// The name that the caller has sent, which proves nothing; safe to display, and may be empty.
        var name: String
        /// The caller's IP address, which the call has proved.
        var address: IPAddress
        /// The time of the last one, in seconds since 1970.
        var time: Int
        var count = 1

        /// Names the caller as the lobby does.
        var caller: String { LobbyDialogue.text(ofAddress: "\(address)", name) }

        /// Whether the calls were more than one, as the end of a sentence.
        var repetition: String { count > 1 ? ", \(count) times" : "" }
    }

    static let maximumCount = 100
    static let maximumByteCount = 1 << 16
    private static let title = "tenfour missed calls 1"
    private static let longestName = 64
    private static let minute = 60
    /// The count at which the calls within one minute are no longer counted.
    static let highestRepetition = 1_000_000

    init() {}

    /// Parses the text of a file, a JSON object on each line below the title; nil if it is none of these files. Lines that
    /// cannot be read are left out.
    init?(parsing text: String) {
        var lines = text.split(separator: "\n")[...]
        guard lines.popFirst() == Self.title[...] else { return nil }
        calls = lines.suffix(Self.maximumCount).compactMap(Call.init)
    }

    /// The text of the file, at most `maximumByteCount` bytes.
    var text: String { ([Self.title] + calls.map(\.json.line)).joined(separator: "\n") + "\n" }

    /// Adds a call, or several of one minute. If there are too many, one of the network with the most goes, so that a caller who calls all day, also
    /// from many addresses, removes no others.
    mutating func record(_ call: Call) {
        let isSame: (Call) -> Bool = {
            $0.address == call.address && $0.time / Self.minute == call.time / Self.minute
        }
        var call = call
        if let earlier = calls.last(where: isSame) {
            call.count = min(earlier.count + call.count, Self.highestRepetition)
        }
        calls.removeAll(where: isSame)
        calls.append(call)
        if calls.count > Self.maximumCount { removeOne() }
    }

    /// Removes the oldest call of the address with the most, in the network with the most.
    private mutating func removeOne() {
        let networks = counts { $0.address.callerNetwork }
        let addresses = counts(\.address)
        func rank(_ index: Int) -> (Int, Int) {
            let address = calls[index].address
            return (networks[address.callerNetwork] ?? 0, addresses[address] ?? 0)
        }
        var chosen = 0
        for index in calls.indices where rank(index) > rank(chosen) { chosen = index }
        calls.remove(at: chosen)
    }

    private func counts<Key: Hashable>(_ key: (Call) -> Key) -> [Key: Int] {
        calls.reduce(into: [:]) { $0[key($1), default: 0] += 1 }
    }
}

extension MissedCalls.Call {
    /// The call as an object.
    var json: JSON {
        .object([
            ("missed_from", .text(name)), ("address", .text("\(address)")), ("start", .integer(time)),
            ("count", .integer(count)),
        ])
    }

    fileprivate init?(_ line: Substring) {
        guard let json = try? JSON(parsing: Array(line.utf8)), case .text(let name)? = json.member("missed_from"),
            case .text(let text)? = json.member("address"), let address = IPAddress(text),
            case .integer(let time)? = json.member("start"), time >= 0,
            case .integer(let count)? = json.member("count"), count > 0
        else { return nil }
        self.init(
            name: String(fromPeer: name, limit: MissedCalls.longestName), address: address, time: time,
            count: min(count, MissedCalls.highestRepetition))
    }
}

extension IPAddress {
    /// The network in which one host can have any address: an IPv4 /24, or an IPv6 /64.
    fileprivate var callerNetwork: UInt64 { if case .v4 = self { networkPrefix } else { hostPrefix } }
}
