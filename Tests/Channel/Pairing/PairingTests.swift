import TenfourAudioCore
import TenfourChannelKeys
import TenfourSeededRandom
import TenfourSession
import Testing

@testable import TenfourPairing

private let home = Endpoint(.v4(0xC000_0201), port: 5004)
private let visitor = Endpoint(.v4(0xC000_0202), port: 40_000)
private let attacker = Endpoint(.v4(0xC633_6401), port: 5004)

struct PairingTests {
    private var randomness = SeededRandom(seed: 18)
    private let link: ChannelLink
    private let words: PairingWords
    private let wrong: PairingWords

    init() throws {
        link = try ChannelLink("tenfour://192.0.2.1/family#talk-aaaq-eaye-auda-ocaj-bifq-ydio-b5sj")
        words = try PairingWords(typed: "acorn river zebra")
        wrong = try PairingWords(typed: "acorn river yellow")
    }

    private mutating func pair() -> PairOfEnds {
        PairOfEnds(
            PairingInitiator(responder: home, using: &randomness),
            PairingResponder(words, link: link, using: &randomness), seed: randomness.next())
    }

    @Test mutating func whoTypesTheWordsGetsTheLink() {
        let ends = pair()
        #expect(ends.begin(words))
        ends.run(.seconds(1))
        #expect(ends.heard == [.paired(link)])
        #expect(ends.told == [.paired(with: visitor), .delivered])
        #expect(ends.responder.isVoid)
        // Three round trips, and repetitions of the receipt.
        #expect(ends.sentCount == 9)
        #expect(ends.initiator.nextDeadline == nil)
        #expect(ends.responder.nextDeadline == nil)
    }

    @Test(arguments: 0..<40) mutating func itSucceedsOverABadNetwork(seed: UInt64) {
        randomness = SeededRandom(seed: seed)
        let ends = pair()
        ends.loss = 0.3
        ends.duplication = 0.2
        #expect(ends.begin(words))
        ends.run(.seconds(20))
        #expect(ends.heard == [.paired(link)])
        #expect(ends.told.first == .paired(with: visitor))
        #expect(ends.told.count == 2)
        #expect(ends.responder.guessesLeft == 3)
    }

    @Test mutating func wrongWordsFailAtBothEndsAndCostOneGuess() {
        let ends = pair()
        ends.duplication = 1
        #expect(ends.begin(wrong))
        ends.run(.seconds(6))
        #expect(ends.heard == [.failed(.wrongWords, guessesLeft: 2)])
        #expect(ends.told == [.wrongWords(from: visitor, guessesLeft: 2)])
        // The right words still work.
        #expect(ends.begin(words))
        ends.run(.seconds(1))
        #expect(ends.heard.last == .paired(link))
    }

    @Test mutating func threeWrongGuessesMakeTheWordsVoid() {
        let ends = pair()
        for left in [2, 1, 0] {
            #expect(ends.begin(wrong))
            ends.run(.seconds(1))
            #expect(ends.heard.last == .failed(left > 0 ? .wrongWords : .guessedTooOften, guessesLeft: left))
            #expect(ends.told.last == .wrongWords(from: visitor, guessesLeft: left))
        }
        #expect(ends.responder.isVoid)
        #expect(!ends.begin(words), "the initiator has no run left")
        // Nor does another one, who knows the words, get the link.
        ends.initiator = PairingInitiator(responder: home, using: &randomness)
        #expect(ends.begin(words))
        ends.run(.seconds(6))
        #expect(ends.heard.last == .failed(.void, guessesLeft: 3))
        #expect(ends.told.count == 3)
    }

    /// The other end counts the guesses of all.
    @Test mutating func guessesThatOthersHaveSpentAreNotLeft() {
        let ends = pair()
        #expect(ends.begin(wrong))
        ends.run(.seconds(1))
        ends.initiator = PairingInitiator(responder: home, using: &randomness)
        for failure in [PairingFailure.wrongWords, .guessedTooOften] {
            #expect(ends.begin(wrong))
            ends.run(.seconds(1))
            #expect(ends.heard.last == .failed(failure, guessesLeft: 1))
        }
    }

    @Test mutating func theWordsHoldForOnePairingOnly() {
        let ends = pair()
        #expect(ends.begin(words))
        ends.run(.seconds(1))
        ends.initiator = PairingInitiator(responder: home, using: &randomness)
        #expect(ends.begin(words))
        ends.run(.seconds(12))
        #expect(ends.heard.last == .failed(.void, guessesLeft: 3))
        #expect(ends.told.count == 2)
    }

    /// A responder that has no link yet is silent, and the link that it sends is the last one before the right words.
    @Test mutating func theLinkMayComeLater() throws {
        let ends = pair()
        ends.responder = PairingResponder(words, link: nil, using: &randomness)
        #expect(ends.begin(words))
        ends.run(.seconds(1))
        #expect(ends.sentCount == 5, "HELLO, without an answer")
        for name in ["early", "family"] {
            let link = try ChannelLink("tenfour://192.0.2.1/\(name)#talk-aaaq-eaye-auda-ocaj-bifq-ydio-b5sj")
            let isOffered = ends.responder.offer(link)
            #expect(isOffered)
        }
        ends.run(.seconds(1))
        #expect(ends.heard == [.paired(link)])
        let isOffered = ends.responder.offer(link)
        #expect(!isOffered, "the other end has its link")
    }

    /// Somebody between the two, who runs the protocol with each of them under words that he guesses.
    @Test mutating func aManInTheMiddleFailsOnBothSidesAndCostsOneGuess() {
        // He answers the visitor as a responder of his own, and calls home as an initiator of his own.
        let visitorSide = PairOfEnds(
            PairingInitiator(responder: home, using: &randomness),
            PairingResponder(wrong, link: link, using: &randomness), seed: 1)
        let homeSide = pair()
        #expect(visitorSide.begin(words))
        #expect(homeSide.begin(wrong))
        visitorSide.run(.seconds(6))
        homeSide.run(.seconds(6))
        #expect(visitorSide.heard == [.failed(.wrongWords, guessesLeft: 2)])
        #expect(homeSide.told == [.wrongWords(from: visitor, guessesLeft: 2)])
        // A middle that only forwards learns nothing, and the pairing succeeds.
        let honest = pair()
        #expect(honest.begin(words))
        honest.run(.seconds(1))
        #expect(honest.heard == [.paired(link)])
    }

    /// A false responder that never sends its proof has still seen the initiator's, and can check one guess by it.
    @Test mutating func aResponderThatFallsSilentAfterTheProofCostsAGuess() {
        let ends = pair()
        ends.drops = { $0[2] == PairingMessage.Kind.link.rawValue }
        #expect(ends.begin(words))
        ends.run(.seconds(12))
        #expect(ends.heard == [.failed(.noAnswer, guessesLeft: 2)])
        #expect(ends.told == [.paired(with: visitor), .undelivered])
    }

    @Test mutating func withoutAnAnswerTheInitiatorGivesUpAfterFiveSeconds() {
        let ends = pair()
        ends.loss = 1
        #expect(ends.begin(words))
        ends.run(.milliseconds(4_900))
        #expect(ends.heard.isEmpty)
        ends.run(.milliseconds(200))
        #expect(ends.heard == [.failed(.noAnswer, guessesLeft: 3)])
        #expect(ends.sentCount == 20)
        #expect(ends.initiator.nextDeadline == nil)
    }

    @Test mutating func aLinkThatIsNoneIsRefusedWithItsReason() throws {
        let ends = pair()
        ends.drops = { $0[2] == PairingMessage.Kind.link.rawValue }
        #expect(ends.begin(words))
        ends.run(.milliseconds(100))
        let keys = try #require(ends.responder.runs.first?.keys)
        var message = try #require(parsed(ends.lastConfirmation))
        message.kind = .link
        let forged = keys.link(Array("http://example.org".utf8), message)
        ends.initiator.receive(forged.span, from: home, at: ends.now)
        let event = ends.initiator.nextEvent()
        #expect(event == .failed(.badLink(.scheme), guessesLeft: 2))
    }

    /// A sender that only claims an address gets no more than it sent, and leaves no trace.
    @Test mutating func nothingIsKeptForAnAddressThatHasNotProvedItself() {
        let home = Answering(PairingResponder(words, link: link, using: &randomness))
        for number in 0..<1_000 {
            let hello = PairingMessage(.hello, initiator: UInt64(number)).bytes()
            #expect(home.answer(hello, from: attacker)?.count == hello.count)
            let guess = PairingMessage(.share, initiator: UInt64(number), responder: randomness.next())
            #expect(home.answer(guess.bytes(somePoint), from: attacker) == nil)
        }
        #expect(home.responder.runs.isEmpty)
        #expect(home.responder.nextDeadline == nil)
    }

    @Test mutating func aNumberForOneAddressIsWorthlessAtAnother() throws {
        let home = Answering(PairingResponder(words, link: link, using: &randomness))
        let share = try home.share(from: attacker)
        #expect(home.answer(share, from: visitor) == nil)
        #expect(home.answer(share, from: attacker)?.count == 52)
    }

    @Test mutating func aFloodOfRunsStaysBounded() throws {
        let home = Answering(PairingResponder(words, link: link, using: &randomness))
        var answerCount = 0
        for number in 0..<500 {
            let source = Endpoint(.v4(0x0A00_0000 + UInt32(number)), port: 1)
            if home.answer(try home.share(from: source), from: source) != nil { answerCount += 1 }
        }
        #expect(answerCount == 10, "ten runs a second are calculated")
        #expect(home.responder.runs.count == PairingResponder.maximumRunCount)
        let events = [home.responder.nextEvent(), home.responder.nextEvent()]
        #expect(events == [.crowded(from: Endpoint(.v4(0x0A00_0004), port: 1)), nil], "the first run that made room")
        home.responder.timeElapsed(at: .start + PairingResponder.runTime)
        #expect(home.responder.runs.isEmpty)
        #expect(home.responder.guessesLeft == 3)
    }

    /// The host begins a run each 50 ms, and each from another port.
    @Test func aHostThatBeginsRunAfterRunStallsNoOther() throws {
        var randomness = SeededRandom(seed: 4)
        let home = Answering(PairingResponder(words, link: link, using: &randomness))
        var hasBegun = false
        for number in 0..<100 as Range<UInt16> {
            home.now = home.now + .milliseconds(50)
            let port = Endpoint(attacker.address, port: 1_024 + number)
            _ = home.answer(try home.share(from: port, number: UInt64(number)), from: port)
            if number == 50 {
                let share = try home.share(from: visitor, number: 4_711)
                #expect(home.answer(share, from: visitor)?.count == 52)
                hasBegun = true
            }
            #expect(!hasBegun || home.responder.runs.contains { $0.endpoint == visitor })
        }
        let event = home.responder.nextEvent()
        #expect(event == nil)
    }

    /// A run ends with its first wrong proof, so a datagram that comes again costs nothing.
    @Test mutating func eachRunCostsOneGuessAtMost() throws {
        let home = Answering(PairingResponder(words, link: link, using: &randomness))
        for left in [2, 1, 0] {
            home.now = home.now + .seconds(1)
            let share = try home.share(from: attacker, number: UInt64(left))
            var reply = try #require(home.answer(share, from: attacker).flatMap(parsed))
            reply.kind = .confirmation
            for guess: UInt8 in 0..<5 {
                let proof = reply.bytes([UInt8](repeating: guess, count: 32))
                #expect(home.answer(proof, from: attacker).flatMap(parsed)?.kind == .refusal)
                #expect(home.responder.guessesLeft == left)
            }
        }
        #expect(home.responder.isVoid)
        let share = try home.share(from: attacker, number: 9)
        #expect(home.answer(share, from: attacker).flatMap(parsed)?.kind == .refusal)
    }

    @Test mutating func strangersCannotEndARunOfTheInitiator() {
        var initiator = PairingInitiator(responder: home, using: &randomness)
        let hasBegun = initiator.begin(words, at: .start)
        #expect(hasBegun)
        let before = initiator.nextDeadline
        for kind: UInt8 in 0...20 {
            for length in [0, 1, 4, 20, 24, 36, 52, 69, 1092, 1093, 1500] {
                var bytes = [UInt8](repeating: 0, count: length)
                for (place, byte) in zip(bytes.indices, [UInt8(ascii: "p"), 1, kind, 0]) { bytes[place] = byte }
                initiator.receive(bytes.span, from: home, at: .start)
                initiator.receive(bytes.span, from: attacker, at: .start)
            }
        }
        let event = initiator.nextEvent()
        #expect(event == nil)
        #expect(initiator.nextDeadline == before)
    }
}

/// A responder that answers each datagram at once.
private final class Answering {
    var responder: PairingResponder
    var now = Instant.start

    init(_ responder: PairingResponder) { self.responder = responder }

    /// Returns the datagram that the responder sends for `datagram`; nil for none. It must go to the sender.
    func answer(_ datagram: [UInt8], from sender: Endpoint) -> [UInt8]? {
        responder.receive(datagram.span, from: sender, at: now)
        return responder.nextAnswer.map { answer in
            #expect(answer.to == sender)
            return answer.datagram
        }
    }

    /// Returns the message that begins a run from `sender`, with a share that is an element of the group.
    func share(from sender: Endpoint, number: UInt64 = 7) throws -> [UInt8] {
        let challenge = try #require(self.answer(PairingMessage(.hello, initiator: number).bytes(), from: sender))
        var message = try #require(parsed(challenge))
        message.kind = .share
        return message.bytes(somePoint)
    }
}

private func parsed(_ bytes: [UInt8]) -> PairingMessage? { PairingMessage(parsing: bytes.span) }

private let somePoint = CPace(
    password: [1], channel: [], session: [],
    scalar: SecretBytes(copying: [UInt8](repeating: 1, count: 32).span)
).share

extension PairingResponder {
    fileprivate var nextAnswer: (to: Endpoint, datagram: [UInt8])? {
        mutating get {
            var endpoint: Endpoint?
            let datagram = [UInt8](capacity: 1_500) { endpoint = nextDatagram(into: &$0) }
            return endpoint.map { ($0, datagram) }
        }
    }
}

/// An initiator and a responder, with 10 ms between them in each direction.
private final class PairOfEnds {
    var initiator: PairingInitiator
    var responder: PairingResponder
    var loss = 0.0
    var duplication = 0.0
    /// Returns whether a datagram is lost, whatever `loss` is.
    var drops: ([UInt8]) -> Bool = { _ in false }
    private(set) var now = Instant.start
    private(set) var heard: [PairingInitiator.Event] = []
    private(set) var told: [PairingResponder.Event] = []
    private(set) var sentCount = 0
    private(set) var lastConfirmation: [UInt8] = []
    private var flights: [(at: Instant, toHome: Bool, bytes: [UInt8])] = []
    private var randomness: SeededRandom

    init(_ initiator: PairingInitiator, _ responder: PairingResponder, seed: UInt64) {
        self.initiator = initiator
        self.responder = responder
        randomness = SeededRandom(seed: seed)
    }

    func begin(_ words: PairingWords) -> Bool {
        defer { poll() }
        return initiator.begin(words, at: now)
    }

    func run(_ duration: Duration) {
        let end = now + duration
        while true {
            let deadlines = [initiator.nextDeadline, responder.nextDeadline].compactMap(\.self) + flights.map(\.at)
            guard let next = deadlines.min(), next <= end else { break }
            now = max(now, next)
            initiator.timeElapsed(at: now)
            responder.timeElapsed(at: now)
            for flight in flights where flight.at <= now {
                if flight.toHome {
                    responder.receive(flight.bytes.span, from: visitor, at: now)
                } else {
                    initiator.receive(flight.bytes.span, from: home, at: now)
                }
                poll()
            }
            flights.removeAll { $0.at <= now }
            poll()
        }
        now = end
    }

    private func poll() {
        while true {
            var isThere = false
            let datagram = [UInt8](capacity: 1_500) { isThere = initiator.nextDatagram(into: &$0) }
            guard isThere else { break }
            sentCount += 1
            if datagram[2] == PairingMessage.Kind.confirmation.rawValue { lastConfirmation = datagram }
            launch(datagram, toHome: true)
        }
        while let answer = responder.nextAnswer {
            sentCount += 1
            launch(answer.datagram, toHome: false)
        }
        while let event = initiator.nextEvent() { heard.append(event) }
        while let event = responder.nextEvent() { told.append(event) }
    }

    private func launch(_ datagram: [UInt8], toHome: Bool) {
        let copies = randomness.happens(duplication) ? 2 : 1
        for copy in 0..<copies where !randomness.happens(loss) && !drops(datagram) {
            flights.append((now + .milliseconds(10 + 15 * copy), toHome, datagram))
        }
    }
}
