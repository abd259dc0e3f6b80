import TenfourAudioCore
import TenfourCall
import TenfourChannelKeys
import TenfourLobby
import TenfourPairing
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// Feeds a script of datagrams and of what a person does to a station that waits for calls, to one that answers them by
/// itself, and to one that pairs through a relay.
func feedLobby(_ bytes: Span<UInt8>) {
    for var lobby in LobbyStory.shared.lobbies {
        var script = DatagramScript(bytes)
        var now = Instant.start
        while let step = script.next() {
            now = now + step.pause
            lobby.timeElapsed(at: now)
            drain(&lobby, at: now, limit: nil)
            switch step.action {
            case .receive:
                let sender = DatagramScript.endpoint(step.sender)
                _ = lobby.receive(bytes.extracting(step.datagram), from: sender, at: now)
                drain(&lobby, at: now, limit: step.datagram.count)
            case .send: lobby.accept(at: now)
            case .loop: lobby.ignorePlainCaller(at: now)
            case .leave: lobby.hangUp(at: now)
            }
            drain(&lobby, at: now, limit: nil)
        }
    }
}

/// Takes all output. An answer to a datagram is one at most, and not longer than `limit`.
private func drain(_ lobby: inout Lobby, at now: Instant, limit: Int?) {
    var count = 0
    while true {
        var target: Endpoint?
        let datagram = [UInt8](capacity: 1_200) { target = lobby.nextDatagram(into: &$0, at: now) }
        guard target != nil else { break }
        count += 1
        if let limit { precondition(count == 1 && datagram.count <= limit, "more bytes than came") }
    }
    while let event = lobby.nextEvent() {
        switch event {
        case .plainCallerAppeared(_, let name), .plainCallerLeft(_, let name): checkShown(name)
        case .call(.incoming(_, let name)), .call(.rings(let name)), .call(.connected(_, let name)): checkShown(name)
        case .call, .shownWords, .newWords, .typedWords, .relay: break
        }
    }
}

private struct LobbyStory: Sendable {
    let lobbies: [Lobby]

    static let shared = LobbyStory()

    private init() {
        var randomness = SeededRandom(seed: 4)
        guard let link = try? ChannelLink("tenfour://h/c#talk-aaaq-eaye-auda-ocaj-bifq-ydio-b5sj") else {
            preconditionFailure("no link")
        }
        let pairing = RelayedPairing(
            [DatagramScript.endpoint(0)], words: PairingWords(using: &randomness), link: link)
        lobbies = [
            Lobby(name: "Alice", port: 5004, .calls(.byPerson()), using: &randomness),
            Lobby(name: "Robot", port: 5004, .calls(.automatic), using: &randomness),
            Lobby(name: "Pair", port: 5004, .relayedPairing(pairing), using: &randomness),
        ]
    }
}
