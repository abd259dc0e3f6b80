public import TenfourAudioCore
internal import TenfourChannelKeys
public import TenfourSession

/// Sends back what an asker sends, datagram for datagram.
///
/// Only to one at a time, and only to an address that has been seen to receive: who has not is sent one datagram for each
/// greeting, of its size. So nobody gets more bytes than came under their address, and a forger of addresses gains nothing.
public struct LinkTestServer: Sendable {
    /// Who asks now.
    public private(set) var asker: Endpoint?
    /// Datagrams that went back to askers.
    public private(set) var returnedCount = 0

    private let challenge: AddressChallenge
    private var lastHeard = Instant.start

    /// An asker that has been silent so long has gone.
    public static let patience = Duration.seconds(3)
    public static let maximumDatagramByteCount = 1_500

    /// Draws the secret of the server numbers. `generator` must be a CSPRNG outside tests.
    public init(using generator: inout some RandomNumberGenerator) {
        challenge = AddressChallenge(using: &generator)
    }

    /// Takes a datagram in, and appends the answer to `answer`, which is empty and has room for 1500 bytes. Returns whether
    /// there is one; it goes to `sender`.
    public mutating func receive(
        _ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant, answer: inout OutputSpan<UInt8>
    ) -> Bool {
        if now - lastHeard > Self.patience { asker = nil }
        if let greeting = LinkTestPacket(parsing: datagram) {
            guard let reply = reply(to: greeting, from: sender, at: now) else { return false }
            reply.write(into: &answer)
            return true
        }
        guard sender == asker, datagram.count <= Self.maximumDatagramByteCount else { return false }
        lastHeard = now
        returnedCount += 1
        for index in datagram.indices { answer.append(datagram[index]) }
        return true
    }

    private mutating func reply(to greeting: LinkTestPacket, from sender: Endpoint, at now: Instant) -> LinkTestPacket?
    {
        let number = challenge.number(for: greeting.question, at: PeerAddress(sender))
        let isFree = asker == nil || asker == sender
        switch greeting.kind {
        case .hello:
            return LinkTestPacket(.challenge, question: greeting.question, answer: number)
        case .confirmation where greeting.answer == number:
            guard isFree else { return LinkTestPacket(.refusal, question: greeting.question, answer: number) }
            asker = sender
            lastHeard = now
            return LinkTestPacket(.acceptance, question: greeting.question, answer: number)
        case .farewell where greeting.answer == number && asker == sender:
            asker = nil
            return nil
        case .confirmation, .farewell, .challenge, .acceptance, .refusal:
            return nil
        }
    }
}
