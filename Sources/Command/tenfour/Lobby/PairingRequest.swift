import TenfourPairing
import TenfourRadio

/// The arguments of `tenfour pair`: the station that shows the words, and the words. Each may be missing.
struct PairingRequest: Equatable {
    private(set) var host: String?
    /// The words that the other station shows, with a space between them.
    private(set) var words: String?

    /// Throws `.usage` for words that are none. Three words without a dot or a colon are the words alone.
    init(_ typed: [String]) throws(RadioError) {
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

    /// The words in large letters: spaced capitals on lines of their own, with blank lines around.
    static func large(_ words: String) -> String {
        words.split(separator: " ").map { word in
            "\n    \(word.uppercased().map(String.init).joined(separator: " "))\n"
        }.joined()
    }
}
