import TenfourAudioCore
import TenfourCall
import TenfourSeededRandom
import TenfourSession

/// Feeds the bytes as a datagram to a station in each state of a call: from its partner, from its partner with the
/// numbers of the call, and from a stranger.
func feedCall(_ bytes: Span<UInt8>) {
    let story = CallStory.shared
    let known = bytes.count >= 24 ? withNumbers(of: story, bytes) : nil
    for station in story.states {
        feed(bytes, to: station, from: story.partner, isKnown: false)
        feed(bytes, to: station, from: story.stranger, isKnown: false)
        if let known { feed(known.span, to: station, from: story.partner, isKnown: true) }
    }
    var probe = story.probe
    probe.receive(bytes, from: story.partner, at: .start)
    if case .answered(_, let name) = probe.outcome { checkShown(name) }
}

/// Passes a datagram to a station, and checks that it answers with one datagram at most, which is not longer.
private func feed(_ datagram: Span<UInt8>, to station: StationCall, from sender: Endpoint, isKnown: Bool) {
    var station = station
    let before = station.partner
    station.receive(datagram, from: sender, at: .start)
    var answerCount = 0
    while true {
        var target: Endpoint?
        let answer = [UInt8](capacity: 100) { target = station.nextDatagram(into: &$0) }
        guard target != nil else { break }
        precondition(target == sender && answer.count <= datagram.count, "more bytes than came")
        answerCount += 1
    }
    precondition(answerCount <= 1)
    while let event = station.nextEvent() {
        precondition(isKnown, "a stranger was believed")
        switch event {
        case .incoming(_, let name), .missedWhileBusy(_, let name, _), .rings(let name), .connected(_, let name),
            .ended(.missed(let name)):
            checkShown(name)
        case .plain, .ended: break
        }
    }
    precondition(isKnown || station.partner == before)
    if let deadline = station.nextDeadline { station.timeElapsed(at: deadline) }
}

/// Returns the datagram with the numbers of the story's call, which a fuzzer cannot guess.
private func withNumbers(of story: CallStory, _ bytes: Span<UInt8>) -> [UInt8] {
    [UInt8](capacity: bytes.count) {
        for index in bytes.indices { $0.append((4..<20).contains(index) ? story.numbers[index - 4] : bytes[index]) }
    }
}

/// Two stations, one of which calls the other.
private struct CallStory: Sendable {
    let partner = Endpoint(.v4(0xC000_0201), port: 5004)
    let stranger = Endpoint(.v4(0xC633_6401), port: 5004)
    /// The caller's number and the callee's, 8 bytes each.
    let numbers: [UInt8]
    let states: [StationCall]
    let probe: StationProbe

    static let shared = CallStory()

    private init() {
        var randomness = SeededRandom(seed: 12)
        var caller = StationCall(name: "Alice", answering: .byPerson(), using: &randomness)
        var callee = StationCall(name: "Bob", answering: .byPerson(), using: &randomness)
        var states = [callee]
        precondition(caller.call(partner, at: .start))
        states.append(caller)
        Self.exchange(&caller, &callee, partner)
        states.append(caller)
        let invitation = Self.exchange(&caller, &callee, partner)
        states += [caller, callee]
        numbers = Array(invitation[4..<20])
        callee.accept(at: .start)
        states.append(callee)
        Self.deliver(from: &callee, to: &caller, partner)
        Self.deliver(from: &caller, to: &callee, partner)
        states += [caller, callee]
        precondition(caller.partner != nil && callee.partner != nil)
        caller.hangUp(at: .start)
        states.append(caller)
        for index in states.indices {
            while states[index].nextEvent() != nil {}
            _ = [UInt8](capacity: 100) { _ = states[index].nextDatagram(into: &$0) }
        }
        self.states = states
        probe = StationProbe(partner, at: .start, using: &randomness)
    }

    /// Carries a datagram of the caller to the callee, and the answer back. Returns the first.
    @discardableResult
    private static func exchange(_ caller: inout StationCall, _ callee: inout StationCall, _ endpoint: Endpoint)
        -> [UInt8]
    {
        defer { deliver(from: &callee, to: &caller, endpoint) }
        return deliver(from: &caller, to: &callee, endpoint)
    }

    @discardableResult
    private static func deliver(from one: inout StationCall, to other: inout StationCall, _ endpoint: Endpoint)
        -> [UInt8]
    {
        let datagram = [UInt8](capacity: 100) { precondition(one.nextDatagram(into: &$0) == endpoint) }
        other.receive(datagram.span, from: endpoint, at: .start)
        return datagram
    }
}
