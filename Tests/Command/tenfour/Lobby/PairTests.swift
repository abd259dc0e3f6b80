import Glibc
import TenfourChannelKeys
import TenfourRadio
import TestSupport
import Testing

@testable import tenfour

/// `tenfour pair`: two stations in terminals make a channel.
@Suite(.onItsOwnThread, .inRealTime) struct PairTests {
    private let folder = Folder()

    init() { folder.write(longTone, to: "long.wav") }

    private func words(of station: StationInTerminal) throws -> String {
        station.says("or press a")
        let words = station.terminal.shown.firstMatch(of: /say "([a-z]+ [a-z]+ [a-z]+)"/)
        return String(try #require(words).output.1)
    }

    @Test func threeWordsMakeAChannelForTwo() throws {
        let alice = try StationInTerminal("Alice", ["--open"], command: "pair", in: folder)
        let words = try words(of: alice)
        let bob = try StationInTerminal("Bob", ["127.0.0.1:\(alice.port)", "--open"], command: "pair", in: folder)
        let pairing = PairingInTerminals(
            alice: alice, bob: bob, prompt: "words of 127.0.0.1:\(alice.port): _",
            nonsense: ("no such word", "is not a word for pairing"), wrong: "acorn acorn acorn",
            right: words.uppercased(),
            guessesLeft: "2 guesses are left")
        pairing.run()
        let saved = pairing.saved
        #expect(saved[0].hasPrefix("tenfour://:\(alice.port)/alice#talk-"), "\(saved)")
        #expect(saved[1] == saved[0].replacing("tenfour://:", with: "tenfour://127.0.0.1:"), "\(saved)")
    }

    @Test func theWordsMayBeAnArgument() throws {
        let alice = try StationInTerminal("Alice", command: "pair", in: folder)
        let words = try words(of: alice)
        // The words are large, too.
        let large = words.split(separator: " ").map { $0.uppercased().map(String.init).joined(separator: " ") }
        #expect(large.allSatisfy { alice.terminal.lines.contains("    \($0)") }, "\(alice.terminal.lines)")
        let bob = try StationInTerminal(
            "Bob", ["127.0.0.1:\(alice.port)"] + words.split(separator: " ").map(String.init), command: "pair",
            in: folder)
        bob.says("pairing with 127.0.0.1")
        for station in [alice, bob] { station.says("the channel is saved") }
        for station in [bob, alice] { station.quits() }
        // Words without a station wait until it is chosen, and wrong ones are typed anew.
        let carol = try StationInTerminal("Carol", ["--plain"], command: "pair", in: folder)
        let others = try self.words(of: carol)
        #expect(carol.terminal.inOneLine.contains("to the other person: \(others)"))
        let dan = try StationInTerminal("Dan", ["acorn-acorn-acorn"], command: "pair", in: folder)
        dan.says("choose the station that shows these words")
        dan.call(carol)
        dan.says("the words differ from those of the other end")
        dan.says("words of 127.0.0.1:\(carol.port): _")
        dan.type("\(others)\n")
        for station in [carol, dan] { station.says("the channel is saved") }
        for station in [dan, carol] { station.quits() }
    }

    /// The other person would sit alone in the channel.
    @Test(arguments: [[], ["--relay", "127.0.0.1:9"]]) func missingSoundIsToldBeforeTheWords(relay: [String]) throws {
        let sounds = [
            (["-D", "nosuch"], "no sound card named 'nosuch': `tenfour devices` lists the cards"),
            (["--input", "nosuch.wav", "-o", "/dev/null"], "there is no file nosuch.wav"),
            (["--input", "long.wav", "-o", "nowhere/x.wav"], "cannot write nowhere/x.wav: No such file or directory"),
        ]
        for (options, sentence) in sounds {
            let terminal = TestSupport.Terminal()
            let alice = try Program(
                "tenfour", ["pair", "-p", "\(UDPPort.free())"] + options + relay, in: folder, terminal: terminal)
            #expect(alice.wait() == .code(69))
            #expect(terminal.lines.count == 1 && terminal.inOneLine.contains(sentence), "\(terminal.shown)")
        }
    }

    @Test func hostAndWordsAreRecognised() throws {
        func request(_ typed: String...) throws -> [String?] {
            let request = try PairingRequest(typed)
            return [request.host, request.words]
        }
        #expect(try request() == [nil, nil])
        #expect(try request("bob") == ["bob", nil])
        #expect(try request("bob:6000", "ACORN-badg", "cabi") == ["bob:6000", "acorn badger cabin"])
        #expect(try request("acorn", "badger", "cabin") == [nil, "acorn badger cabin"])
        #expect(try request("acorn badger cabin") == [nil, "acorn badger cabin"])
        #expect(throws: RadioError.self) { try request("bob", "acorn") }
        for number in ["482913", "482-913", "482 913", "4829"] {
            let error = #expect(throws: RadioError.self) { try request(number, "acorn", "badger", "cabin") }
            #expect(error?.description.contains("add --relay HOST") == true, "\(String(describing: error))")
        }
        // Through a relay, the words have a number in front of them.
        let forms = [
            ["482913", "acorn", "badger", "cabin"], ["482 913", "ACORN-badg", "cabi"], ["482-913,acorn,badger,cabin"],
        ]
        for typed in forms {
            let request = try PairingRequest(typed, relay: "Radio.example.org:5")
            #expect(request.host == nil && request.words == "482 913 acorn badger cabin")
            #expect(request.relay?.description == "radio.example.org:5")
        }
        #expect(try PairingRequest([], relay: "[::1]").words == nil)
    }

    @Test func threeWrongGuessesEndBothEnds() throws {
        let alice = try StationInTerminal("Alice", command: "pair", in: folder)
        let bob = try StationInTerminal("Bob", ["127.0.0.1:\(alice.port)"], command: "pair", in: folder)
        for count in 1...3 {
            let isAsked = bob.program.wait(.seconds(20)) {
                bob.terminal.shown.split(separator: "the words differ").count == count
            }
            #expect(isAsked, "\(bob.terminal.shown)")
            bob.says("words of 127.0.0.1:\(alice.port): _")
            bob.type("acorn acorn acorn\n")
        }
        for station in [alice, bob] {
            #expect(station.program.wait() == .code(69), "\(station.terminal.shown)")
            #expect(station.terminal.inOneLine.contains("start `tenfour pair` again at both ends"))
        }
    }
}
