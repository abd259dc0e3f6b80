import TenfourAudioCore
import TenfourChannelKeys
import TenfourClocks
import TenfourLobby
import TenfourPairing
import TenfourRadio
import TenfourSession

/// The part of the dialogue in which two people make a channel: the words that this station shows, and those that are
/// typed at it.
struct PairingDialogue {
    /// The result of an event or of typed words.
    struct Step {
        /// The sentence for the person; nil if there is none.
        var sentence: String?
        /// The mode that the dialogue changes to; nil if it stays.
        var mode: LobbyMode?
        /// The channel that has been made; nil if there is none yet.
        var channel: PairedChannel?
    }

    private let station: LobbyStation
    /// Whether words are typed for one station only, which an argument has named.
    private let hasPartner: Bool
    /// Whether words are shown in large letters.
    let areWordsLarge: Bool
    /// The words that this station shows; nil if it shows none. They change together with the number.
    private(set) var shownWords: PairingWords?
    /// The number under which this station waits at the relay; nil before it has one.
    var number: RendezvousNumber?
    /// Whether the relay has stopped answering.
    var isSilent = false
    /// The number that was typed last.
    private(set) var typedNumber: RendezvousNumber?
    /// The address of the one who has typed our words.
    private(set) var partner: IPAddress?
    /// The link that pairing has brought, while its receipt is being sent.
    private var received: (channel: PairedChannel, since: Instant)?

    private static let receiptTime = Duration.seconds(1)

    init(_ station: LobbyStation, hasPartner: Bool, areWordsLarge: Bool) {
        self.station = station
        shownWords = station.shownWords
        self.hasPartner = hasPartner
        self.areWordsLarge = areWordsLarge
    }

    /// The relay through which this station pairs; nil if it pairs with stations nearby.
    var relay: RelayHost? { station.relay }

    /// The channel whose link has come from the other end, which has been told so.
    var channel: PairedChannel? {
        guard let received, !station.isPairing || MonotonicClock.now - received.since >= Self.receiptTime else {
            return nil
        }
        return received.channel
    }

    /// The words that this station shows were typed, or somebody guessed at them. Throws if they no longer hold.
    mutating func handle(_ event: PairingResponder.Event) throws(RadioError) -> Step {
        switch event {
        case .wrongWords(let endpoint, let count):
            guard count > 0 else {
                throw RadioError(
                    .unavailable,
                    "wrong words were typed too often; start `tenfour pair` again\(relay == nil ? " at both ends" : "")"
                )
            }
            return Step(sentence: "\(name(of: endpoint)) has typed other words: \(guesses(count))")
        case .paired(let endpoint):
            partner = endpoint.address
            // From now on nothing that is typed here counts.
            let other = relay == nil ? name(of: endpoint) : "the other station"
            return Step(sentence: "\(other) has typed the words, and gets the channel's link", mode: .list)
        case .delivered, .undelivered:
            let sentence = event == .undelivered ? "the other end has not said that it has the link" : nil
            return Step(
                sentence: sentence,
                channel: station.ownLink.map { PairedChannel(link: $0.text(), partner: partnerName, host: nil) })
        case .crowded(let endpoint):
            return Step(
                sentence:
                    "many stations try to pair at once, \(name(of: endpoint)) last, so that pairing may fail: if it does, pair in another network"
            )
        }
    }

    /// The words were guessed at too often, and are others from now on.
    mutating func wordsAreRenewed() -> Step {
        (number, isSilent, shownWords) = (nil, false, station.shownWords)
        return Step(sentence: "wrong words were typed twice: this station gets another number and other words")
    }

    /// The name by which the person knows the station at this address, and the address.
    private func name(of endpoint: Endpoint) -> String {
        if relay != nil { return "somebody who knows this number" }
        let near = station.nearby.stations.first { $0.endpoint.address == endpoint.address }
        return LobbyDialogue.text(of: endpoint, near?.name ?? "")
    }

    /// The name of the station nearby that was paired with last; empty if it is not known.
    private var partnerName: String {
        station.nearby.stations.first { $0.endpoint.address == partner }?.name ?? ""
    }

    /// The words that were typed here for a station were right, or not. Throws if no guess is left.
    mutating func handle(_ event: PairingInitiator.Event, of partner: PairingPartner) throws(RadioError) -> Step {
        switch event {
        case .paired(let link):
            received = (channel(link, of: partner), MonotonicClock.now)
            return Step()
        case .failed(let failure, let count):
            if let step = try stepAtRelay(after: failure, guessesLeft: count) { return step }
            let isWrong = failure == .wrongWords
            if failure == .void || failure == .guessedTooOften || isWrong && count == 0 {
                throw RadioError(.unavailable, "\(failure); start `tenfour pair` again at both ends")
            }
            return Step(
                sentence: isWrong ? "\(failure); \(guesses(count))" : "\(failure)",
                mode: isWrong || hasPartner ? .typingWords(LineInput(), partner) : .list)
        }
    }

    /// The channel whose link has come from a station. The station has given it its own name.
    private func channel(_ link: ChannelLink, of partner: PairingPartner) -> PairedChannel {
        switch partner {
        case .station(let endpoint, let name):
            let near = station.nearby.stations.first { $0.endpoint == endpoint }
            let typed = PairedChannel.partnerName(typed: name)
            return PairedChannel(
                link: link.text(), partner: near?.name ?? (typed.isEmpty ? link.name : typed),
                host: .init(endpoint, name: near?.host))
        case .atRelay: return PairedChannel(link: link.text(), partner: link.name, relay: relay)
        }
    }

    /// Words have been typed for a station. Throws if no guess is left.
    mutating func begin(with partner: PairingPartner, typed text: String) throws(RadioError) -> Step {
        let hasBegun: Bool
        do {
            switch partner {
            case .station(let endpoint, _):
                let words = try PairingWords(typed: text)
                guard self.partner == nil else { return Step(mode: .list) }
                hasBegun = station.pair(with: endpoint, words)
            case .atRelay:
                let typed = try NumberAndWords(typed: text)
                guard self.partner == nil else { return Step(mode: .list) }
                if let step = stepForOwnNumber(typed.number) { return step }
                typedNumber = typed.number
                hasBegun = station.pair(with: typed.number, typed.words)
            }
        } catch {
            return Step(sentence: "\(error)", mode: .typingWords(LineInput(), partner))
        }
        guard hasBegun else {
            throw RadioError(
                .unavailable,
                "three guesses are spent; start `tenfour pair` again \(relay == nil ? "at both ends" : "here")")
        }
        return Step(mode: .pairing(partner))
    }

    private func guesses(_ count: Int) -> String {
        (count == 1 ? "one guess is left" : "\(count) guesses are left") + (relay == nil ? "" : " for these words")
    }
}
