import TestSupport
import Testing

/// Alice shows words, and Bob types them: first something else, then wrong words, then the right ones. Both talk in the
/// channel.
struct PairingInTerminals {
    let alice, bob: StationInTerminal
    /// Bob's prompt, before he types.
    var prompt: String
    /// A line that has no words, and the answer to it.
    var nonsense: (typed: String, answer: String)
    var wrong, right: String
    /// The number of guesses after the wrong one, as it is said to both.
    var guessesLeft: String
    /// The name by which Alice is told of Bob; empty for any.
    var bobsName = ""

    func run() {
        bob.says(prompt)
        bob.type("\(nonsense.typed)\n")
        bob.says(nonsense.answer)
        bob.type("\(wrong)\n")
        bob.says("the words differ from those of the other end")
        bob.says(guessesLeft)
        alice.says("\(bobsName) has typed other words: \(guessesLeft)")
        bob.type("\(right)\n")
        alice.says("has typed the words, and gets the channel's link")
        for station in [alice, bob] {
            station.says("the channel is saved: tenfour talk ")
            station.says("in the channel")
        }
        // Bob announces nothing: she learns his name in the channel.
        alice.says("talking in channel pair")
        bob.says("talking in channel alice")
        alice.says("Bob is here")
        alice.says("the channel is now saved as bob: tenfour talk bob finds it")
        for station in [alice, bob] { station.says("hearing ") }
        // Her audio may come before the list of members with her name.
        bob.says("Alice")
        // Without a relay Alice forwards the packets, and so leaves last.
        for station in [bob, alice] { station.quits() }
    }

    /// The links that both have saved.
    var saved: [String] {
        [(alice, "bob"), (bob, "alice")].map { Folder.text(of: $0.home("tenfour/\($1).link")) }
    }
}
