import TenfourAudioCore
import TenfourChannelKeys
import TenfourPairing
import TenfourSeededRandom
import TenfourSession

/// Feeds the bytes as a datagram to both ends of a pairing in each of their states, and as a link that the end that
/// knows the words has sealed.
func feedPairing(_ bytes: Span<UInt8>) {
    let story = PairingStory.shared
    for var initiator in [story.asking, story.sharing, story.proving, story.done] {
        initiator.receive(bytes, from: story.home, at: .start)
        while let event = initiator.nextEvent() { check(event) }
    }
    for var responder in [story.waiting, story.running, story.proved] {
        responder.receive(bytes, from: story.visitor, at: .start)
        while let event = responder.nextEvent() {
            if case .paired = event { preconditionFailure("a stranger was believed") }
            if case .delivered = event { preconditionFailure("a stranger was believed") }
        }
    }
    // With the right numbers, which a fuzzer cannot guess.
    if bytes.count >= 3, let kind = PairingMessage.Kind(rawValue: bytes[0] % 9) {
        var message = story.message
        message.kind = kind
        let known = message.bytes(bytes.extracting(1...).copied)
        for var initiator in [story.sharing, story.proving] {
            initiator.receive(known.span, from: story.home, at: .start)
            while let event = initiator.nextEvent() { check(event) }
        }
        var responder = story.running
        responder.receive(known.span, from: story.visitor, at: .start)
        while let event = responder.nextEvent() {
            if case .paired = event { preconditionFailure("a stranger was believed") }
        }
    }
    guard (1...ChannelLink.maximumByteCount).contains(bytes.count) else { return }
    var link = story.message
    link.kind = .link
    var initiator = story.proving
    initiator.receive(story.keys.link(bytes.copied, link).span, from: story.home, at: .start)
    switch initiator.nextEvent() {
    case .paired(let link): precondition((try? ChannelLink(link.text())) == link)
    case .failed(.badLink(let error), 2): checkShown(error.description)
    default: preconditionFailure("what was sealed was not opened")
    }
}

/// No stranger can prove to know the words.
private func check(_ event: PairingInitiator.Event) {
    if case .paired = event { preconditionFailure("a stranger was believed") }
}

/// Both ends of a pairing, in each of their states.
private struct PairingStory: Sendable {
    let home = Endpoint(.v4(0xC000_0201), port: 5004)
    let visitor = Endpoint(.v4(0xC000_0202), port: 5004)
    let asking, sharing, proving, done: PairingInitiator
    let waiting, running, proved: PairingResponder
    let keys: PairingKeys
    let message: PairingMessage

    static let shared = PairingStory()

    private init() {
        var randomness = SeededRandom(seed: 11)
        guard let link = try? ChannelLink("tenfour://h/c#talk-aaaq-eaye-auda-ocaj-bifq-ydio-b5sj") else {
            preconditionFailure("no link")
        }
        let words = PairingWords(using: &randomness)
        var initiator = PairingInitiator(responder: home, using: &randomness)
        var responder = PairingResponder(words, link: link, using: &randomness)
        waiting = responder
        precondition(initiator.begin(words, at: .start))
        asking = initiator
        Self.exchange(&initiator, &responder, home, visitor)
        sharing = initiator
        Self.exchange(&initiator, &responder, home, visitor)
        proving = initiator
        running = responder
        guard let run = responder.runs.first else { preconditionFailure("no run") }
        keys = run.keys
        message = run.message
        Self.exchange(&initiator, &responder, home, visitor)
        precondition(initiator.nextEvent() == .paired(link) && responder.nextEvent() == .paired(with: visitor))
        done = initiator
        proved = responder
    }

    /// Carries a datagram of the initiator, and the answer to it.
    private static func exchange(
        _ initiator: inout PairingInitiator, _ responder: inout PairingResponder, _ home: Endpoint, _ visitor: Endpoint
    ) {
        let question = [UInt8](capacity: 1_500) { precondition(initiator.nextDatagram(into: &$0)) }
        responder.receive(question.span, from: visitor, at: .start)
        let answer = [UInt8](capacity: 1_500) { precondition(responder.nextDatagram(into: &$0) == visitor) }
        initiator.receive(answer.span, from: home, at: .start)
    }
}
