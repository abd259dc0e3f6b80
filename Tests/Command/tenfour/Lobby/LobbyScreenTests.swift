import TenfourAudioCore
import TenfourChannelKeys
import TenfourCommandSupport
import TenfourSession
import Testing

@testable import TenfourDNSSD
@testable import TenfourLobby
@testable import tenfour

struct LobbyScreenTests {
    private func station(
        _ digit: Int, _ name: String, _ reachability: NearbyStation.Reachability = .answers(after: .milliseconds(2)),
        takesCalls: Bool = true
    ) -> NearbyStation {
        NearbyStation(
            id: .init(name: name, domain: "local"), digit: digit, name: name, host: "host-\(digit).local",
            endpoint: Endpoint(.v4(UInt32(digit)), port: 5004), takesCalls: takesCalls, reachability: reachability)
    }

    private func screen(_ stations: [NearbyStation], others: Int = 0, prompt: String = "q quits") -> LobbyScreen {
        var list = NearbyList()
        list.stations = stations
        list.otherCount = others
        return LobbyScreen(list: list, prompt: prompt)
    }

    @Test func eachStationHasALineWithItsDigit() {
        let screen = screen([
            station(1, "Alice"), station(3, "Bob", .unreachable), station(4, "Old radio", .unknown, takesCalls: false),
        ])
        #expect(
            screen.lines(width: 79, height: 20) == [
                "  1  Alice                       host-1.local                2 ms",
                "  3  Bob                         host-3.local                not reachable",
                "  4  Old radio                   host-4.local                plain RTP",
                "q quits",
            ])
        #expect(screen.lines(width: 39, height: 20)[1] == "  3  Bob            not reachable")
    }

    @Test func theNewestMissedCallsStandBelowTheList() {
        var missed = MissedCalls()
        for number in 1...5 as ClosedRange<UInt32> {
            missed.record(.init(name: "Bob", address: .v4(0x0A00_0000 + number), time: 0))
        }
        var screen = screen([station(1, "Alice")])
        screen.missed = missed.calls
        let lines = screen.lines(width: 79, height: 20)
        #expect(lines.count == 5 && lines[1].hasPrefix("     Bob (10.0.0.3) called at "), "\(lines)")
        #expect(screen.lines(width: 79, height: 2).count == 2)
    }

    @Test func theArrowKeysChooseAStation() {
        var list = NearbyList()
        list.stations = [station(1, "Alice"), station(3, "Bob"), station(4, "Carol")]
        var choice = StationChoice()
        func chosen(_ keys: TerminalKey...) -> String? {
            for key in keys {
                let isArrow = choice.move(key, in: list)
                #expect(isArrow)
            }
            return choice.station(in: list)?.name
        }
        #expect(chosen() == nil && chosen(.down) == "Alice" && chosen(.up) == "Alice")
        #expect(chosen(.down) == "Bob" && chosen(.down) == "Carol" && chosen(.down) == "Carol")
        var screen = screen(list.stations)
        screen.chosen = choice.station(in: list)?.id
        #expect(screen.lines(width: 79, height: 20).map { $0.prefix(5) } == ["  1  ", "  3  ", "> 4  ", "q qui"])
        #expect(
            LobbyMode.list.prompt(pairing: nil, plainCaller: nil, chosen: "Carol", hasKeyboard: true)
                .hasPrefix("Enter calls Carol, "))
        // The choice stays with the station, and ends with it.
        list.stations.removeFirst()
        #expect(chosen() == "Carol" && chosen(.up) == "Bob")
        list.stations.removeFirst()
        #expect(chosen() == nil && chosen(.up) == "Carol")
        choice.clear()
        #expect(chosen() == nil)
        list.stations = []
        #expect(chosen(.down, .up) == nil)
        let isArrow = choice.move(.character("1"), in: list)
        #expect(!isArrow)
    }

    @Test func theArrowKeysChooseNoStationThatIsNotDrawn() {
        var screen = screen((1...9).map { station($0, "Station \($0)") })
        screen.missed = [.init(name: "Bob", address: .v4(1), time: 0)]
        for height in 1...12 {
            let drawn = screen.list.first(screen.stationCount(width: 79, height: height))
            var choice = StationChoice()
            for _ in 0..<9 { _ = choice.move(.down, in: drawn) }
            screen.chosen = choice.station(in: drawn)?.id
            let marked = screen.lines(width: 79, height: height).count { $0.hasPrefix("> ") }
            #expect(marked == (height > 2 ? 1 : 0), "\(height)")
            // The terminal has become lower.
            #expect(choice.station(in: screen.list.first(0)) == nil)
        }
    }

    @Test func nobodyIsNearUnlessNobodyCanBeFound() {
        var screen = screen([])
        #expect(screen.lines(width: 79, height: 20) == ["     nobody is near yet", "q quits"])
        screen.isBlind = true
        #expect(screen.lines(width: 79, height: 20) == ["q quits"])
    }

    /// The number and the words that the person must say stay on a screen of 40 columns and ten rows, of which six are drawn.
    @Test func aLongPromptTakesTheLinesThatItNeeds() {
        let prompt = "say \"482 913, acorn badger cabin\", or type the other station's"
        var screen = screen([], prompt: prompt)
        screen.isBlind = true
        #expect(
            screen.lines(width: 39, height: 6) == [
                "say \"482 913, acorn badger cabin\", or", "type the other station's",
            ])
        #expect(screen.lines(width: 39, height: 1) == ["say \"482 913, acorn badger cabin\", or …"])
        #expect(screen.lines(width: 79, height: 6) == [prompt])
        // It comes before the stations.
        screen.list.stations = (1...9).map { station($0, "Station \($0)") }
        let lines = screen.lines(width: 39, height: 6)
        #expect(lines.count == 6 && lines.suffix(2).first?.hasPrefix("say ") == true)
        #expect(screen.stationCount(width: 39, height: 6) == 3 && screen.stationCount(width: 79, height: 6) == 4)
    }

    /// q would be a letter of a word.
    @Test func whereSomethingIsTypedEscapeIsNamed() {
        let mode = LobbyMode.typingWords(LineInput(), .atRelay("radio.example.org"))
        #expect(mode.typingHint(isOnly: false) == "(Esc goes back)" && mode.typingHint(isOnly: true) == "(Esc quits)")
        #expect(LobbyMode.typingAddress(LineInput()).typingHint(isOnly: false) == "(Esc goes back)")
        #expect(LobbyMode.list.typingHint(isOnly: false) == "")
        var screen = screen([], prompt: "number and words: 482_")
        (screen.isTyping, screen.isBlind, screen.typingHint) = (true, true, "(Esc goes back)")
        #expect(screen.lines(width: 39, height: 6) == ["number and words: 482_  (Esc goes back)"])
        screen.prompt = "number and words: 482 9_"
        #expect(screen.lines(width: 39, height: 6) == ["number and words: 482 9_", "(Esc goes back)"])
        #expect(screen.lines(width: 39, height: 1) == ["number and words: 482 9_"])
        screen.prompt = "number and words: 482 913 acorn badger cabin_"
        #expect(screen.lines(width: 39, height: 6) == ["…and words: 482 913 acorn badger cabin_", "(Esc goes back)"])
    }

    @Test(arguments: 1...30, [1, 2, 10, 39, 79]) func thePictureFitsTheTerminal(height: Int, width: Int) {
        let names = ["Alice", "漢字の名前を持つ駅ですよこれは長い", "👩‍👩‍👧‍👦🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉", String(repeating: "x", count: 63)]
        let stations = (1...9).map { station($0, names[$0 % names.count]) }
        let lines = screen(stations, others: 491, prompt: "1-9 calls, a types an address, q quits")
            .lines(width: width, height: height)
        #expect(lines.count <= height)
        #expect(lines.allSatisfy { $0.columnCount <= width }, "\(lines)")
        if width == 79, height >= 3 {
            let shown = lines.count - 2
            #expect(lines[lines.count - 2].contains("\(500 - shown) more"))
        }
    }

    @Test func aLineIsTypedAndCorrected() {
        var input = LineInput()
        for key in "bpb.l\u{7F}\u{7F}" { #expect(input.append(.character(key)) == .none) }
        #expect(input.text == "bpb")
        #expect(input.append(.character("\u{15}")) == .none)
        for key in "bob" { _ = input.append(.character(key)) }
        #expect(input.append(.up) == .none)
        #expect(input.append(.character("\u{7}")) == .none)
        #expect(input.append(.character("\n")) == .done("bob"))
        #expect(input.append(.character("\u{1B}")) == .cancelled)
        for _ in 0..<1_000 { _ = input.append(.character("x")) }
        #expect(input.text.count == LineInput.maximumLength)
    }

    @Test func sentencesTellWhatHasChanged() {
        var notices = NearbyNotices()
        var list = NearbyList()
        list.stations = [station(1, "Alice", .unknown)]
        let start = Instant.start + .seconds(1)
        #expect(notices.update(list, at: start) == ["Alice is near: 1 calls"])
        #expect(notices.update(list, at: start) == [])
        list.stations = [station(1, "Alice", .unreachable), station(2, "Bob")]
        #expect(notices.update(list, at: start) == ["Alice is not reachable", "Bob is near: 2 calls"])
        list.stations = [station(1, "Alice")]
        #expect(notices.update(list, at: start) == ["Alice is reachable again", "Bob is gone"])
    }

    @Test func sentencesAboutAFloodAreFew() {
        var notices = NearbyNotices()
        var count = 0
        for round in 0..<1_000 {
            var list = NearbyList()
            list.stations = (1...9).map { station($0, "\(round)-\($0)") }
            count += notices.update(list, at: .start + .milliseconds(Int64(round * 10 + 1))).count
        }
        #expect(count == NearbyNotices.maximumCount)
    }

    @Test func theHelpIsAboutWhatThePersonDoes() {
        #expect(LobbyMode.list.help(isPairing: false).joined().contains("q quits"))
        #expect(LobbyMode.calling("Bob").help(isPairing: false) == ["q ends the call"])
        let endpoint = Endpoint(.loopbackV4, port: 5004)
        #expect(!LobbyMode.ringing("Bob", endpoint).help(isPairing: false).joined().contains("quits"))
        #expect(LobbyMode.pairing(.station(endpoint, name: "Bob")).help(isPairing: true) == ["q cancels"])
        #expect(LobbyMode.pairing(.atRelay("h")).help(isPairing: true) == ["q cancels"])
    }

    /// In a narrow terminal the person sees what is typed, not what was typed first.
    @Test(arguments: [
        (
            PairingPartner.atRelay("radio.example.org"), "482 913 acorn badger ca",
            "…ber and words: 482 913 acorn badger ca_"
        ),
        (
            .station(Endpoint(.loopbackV4, port: 5004), name: "a station with a long name"), "acorn badger 漢字",
            "…on with a long name: acorn badger 漢字_"
        ),
    ])
    func theEndOfWhatIsTypedIsSeen(partner: PairingPartner, typed: String, line: String) {
        var input = LineInput()
        for letter in typed { _ = input.append(.character(letter)) }
        let mode = LobbyMode.typingWords(input, partner)
        var screen = screen(
            [], prompt: mode.prompt(pairing: nil, plainCaller: nil, chosen: nil, hasKeyboard: true))
        screen.isTyping = mode.isTyping
        #expect(screen.lines(width: 40, height: 5).last == line)
        #expect(screen.lines(width: 79, height: 5).last?.hasPrefix("…") == false)
        for width in 0..<40 {
            let last = screen.lines(width: width, height: 5).last ?? ""
            #expect(last.columnCount <= width && (width < 2 || last.hasSuffix("_")), "\(last)")
        }
    }

    @Test func aPairAtARelayKeepsTheNameThatItsPersonHasWritten() throws {
        let pass = try #require(ChannelPass(bytes: [UInt8](repeating: 0, count: 32)))
        let made = try PairedChannel.made(by: "Alice", port: 0, at: RelayHost("10.0.0.1:6000"))
        let link = try ChannelLink(relays: made.relays, name: made.name, pass: pass, opening: made.opening)
        let own = PairedChannel(link: link.text(), partner: "", relay: nil)
        #expect(try own.ownLink() == link && own.lastingLink() == nil)
        let other = PairedChannel(link: link.text(), partner: "alice", relay: try RelayHost("Radio.example.org"))
        let used = try other.ownLink()
        #expect(used.relays.map(\.description) == ["radio.example.org"] && used.pass == pass && used.name == "alice")
        #expect(used.opening == link.opening && other.lastingLink() == nil)
    }

    /// The link of a pair is used with the address, for which no name server is asked.
    @Test func aPairUsesTheAddressAndSavesTheName() throws {
        var channel = PairedChannel(
            link: try PairedChannel.made(by: "Alice", port: 5004).text(), partner: "Alice",
            host: .init(Endpoint(.loopbackV4, port: 5004), name: "localhost"))
        #expect(try channel.ownLink().relays.map(\.name) == ["127.0.0.1"])
        #expect(channel.lastingLink()?.relays.map(\.name) == ["localhost"])
        channel.host?.endpoint = Endpoint(.v4(0xC633_6401), port: 5004)
        #expect(channel.lastingLink() == nil)
    }

    @Test func aTypedHostGivesTheChannelItsName() {
        #expect(PairedChannel.partnerName(typed: "bob.local:6000") == "bob")
        #expect(PairedChannel.partnerName(typed: "10.0.0.7:6000") == "")
        #expect(PairedChannel.partnerName(typed: "[fe80::1]:6000") == "")
    }

    @Test func aNameOfAStationBecomesThatOfAChannel() {
        #expect(PairedChannel.channelName(of: "Alice") == "alice")
        #expect(PairedChannel.channelName(of: "Pi #2 (küche)") == "pi-2-k-che")
        #expect(PairedChannel.channelName(of: "../../etc") == "etc")
        #expect(PairedChannel.channelName(of: "漢字") == "pair")
        #expect(PairedChannel.channelName(of: String(repeating: "x", count: 63)).count == 24)
    }
}
