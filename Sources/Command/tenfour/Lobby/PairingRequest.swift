import TenfourChannelKeys
import TenfourPairing
import TenfourRadio

/// The arguments of `tenfour pair`: the station that shows the words, and the words, each of which may be missing; or the
/// relay through which the stations pair.
struct PairingRequest: Equatable {
    private(set) var host: String?
    /// The words that the other station shows, with a space between them, and its number in front of them if it waits at a
    /// relay.
    private(set) var words: String?
    private(set) var relay: RelayHost?

    /// Throws `.usage` for words that are none. Three words without a dot or a colon are the words alone. `relay` is the
    /// value of `--relay`.
    init(_ typed: [String], relay: String? = nil) throws(RadioError) {
        if let relay {
            self.relay = try RelayHost(typed: relay)
            words = try Self.numberAndWords(typed)
            return
        }
        if let first = typed.first, !first.isEmpty,
            RendezvousNumber(typed: first) != nil || first.allSatisfy(\.isNumber)
        {
            throw RadioError(.usage, "'\(first)' is the number of a station that waits at a relay: add --relay HOST")
        }
        if let words = try? PairingWords(typed: typed.joined(separator: " ")) {
            self.words = words.text
            return
        }
        let areWords = typed.count == PairingWords.count && typed[0].allSatisfy { $0 != "." && $0 != ":" }
        host = areWords ? nil : typed.first
        let rest = areWords ? typed[...] : typed.dropFirst()
        guard !rest.isEmpty else { return }
        do throws(PairingWordsError) { words = try PairingWords(typed: rest.joined(separator: " ")).text } catch {
            throw RadioError(.usage, "\(error)")
        }
    }

    private static func numberAndWords(_ typed: [String]) throws(RadioError) -> String? {
        guard !typed.isEmpty else { return nil }
        do throws(NumberAndWordsError) {
            let known = try NumberAndWords(typed: typed.joined(separator: " "))
            return "\(known.number) \(known.words.text)"
        } catch {
            guard error == .noNumber else { throw RadioError(.usage, "\(error)") }
            throw RadioError(
                .usage,
                "with --relay no station is named: write the number that the other station shows and its three words, or neither"
            )
        }
    }

    /// The lowest terminal that shows large words: in a lower one the next line would push the first of them off.
    private static let largeHeight = 18

    /// Whether words are shown in large letters.
    static func areWordsLarge(isPlain: Bool) -> Bool {
        Terminal.showsStatus && !isPlain && Terminal.height >= largeHeight
    }

    /// The words in large letters: spaced capitals on lines of their own, with blank lines around. In front of them the
    /// number under which the station waits at a relay, if it does.
    static func large(_ words: String, behind number: String? = nil) -> String {
        let lines = [number].compactMap(\.self) + words.split(separator: " ").map { $0.uppercased() }
        return "\n" + lines.map { line in "\n    \(line.map(String.init).joined(separator: " "))\n" }.joined()
    }
}
