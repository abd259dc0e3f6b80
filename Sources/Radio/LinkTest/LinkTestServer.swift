public import TenfourAudioCore
internal import TenfourChannelKeys
public import TenfourSession

/// The server of a link test: it returns the datagrams of a client, one by one.
///
/// It serves one client at a time, and only an address that has proved to receive datagrams. Other senders get one
/// reply of the same size for each handshake packet. So no address gets more bytes than it has sent, and a forged
/// sender address gains nothing. A client that has been served for a minute gives its place to one of another host that
/// asks.
public struct LinkTestServer: Sendable {
    /// The client that is being served.
    public private(set) var client: Endpoint?
    /// The number of datagrams returned to clients.
    public private(set) var returnedCount = 0

    private let challenge: AddressChallenge
    private var lastReceived = Instant.start
    private var clientNumber: UInt64 = 0
    /// The host that has been served last, and the time since when.
    private var turn: (host: UInt64, start: Instant)?
    /// The client that has lost its place, which it learns when it sends the next datagram.
    private var displaced: (client: Endpoint, number: UInt64)?

    /// The time without a datagram after which the client counts as gone.
    public static let clientTimeout = Duration.seconds(3)
    /// The time after which a client gives its place to another host that asks, and the pause after which a host counts as
    /// a new one.
    public static let turnTime = Duration.seconds(60)
    public static let maximumDatagramByteCount = 1_500

    /// Creates a server, and the random key from which its server numbers are computed. `generator` must be a CSPRNG
    /// outside tests.
    public init(using generator: inout some RandomNumberGenerator) {
        challenge = AddressChallenge(using: &generator)
    }

    /// Receives a datagram and appends the reply for `sender` to `answer`, which is empty and has space for 1500 bytes.
    /// Returns whether there is a reply.
    public mutating func receive(
        _ datagram: Span<UInt8>, from sender: Endpoint, at now: Instant, answer: inout OutputSpan<UInt8>
    ) -> Bool {
        if now - lastReceived > Self.clientTimeout { client = nil }
        if let packet = LinkTestPacket(parsing: datagram) {
            guard let reply = reply(to: packet, from: sender, at: now) else { return false }
            reply.write(into: &answer)
            return true
        }
        if let displaced, sender == displaced.client, sender != client, datagram.count >= LinkTestPacket.byteCount {
            let number = challenge.number(for: displaced.number, at: PeerAddress(sender))
            LinkTestPacket(.refusal, clientNumber: displaced.number, serverNumber: number).write(into: &answer)
            return true
        }
        guard sender == client, datagram.count <= Self.maximumDatagramByteCount else { return false }
        lastReceived = now
        returnedCount += 1
        for index in datagram.indices { answer.append(datagram[index]) }
        return true
    }

    private mutating func reply(to packet: LinkTestPacket, from sender: Endpoint, at now: Instant) -> LinkTestPacket? {
        let number = challenge.number(for: packet.clientNumber, at: PeerAddress(sender))
        switch packet.kind {
        case .hello:
            return LinkTestPacket(.challenge, clientNumber: packet.clientNumber, serverNumber: number)
        case .confirmation where packet.serverNumber == number:
            guard mayServe(sender, at: now) else {
                return LinkTestPacket(.refusal, clientNumber: packet.clientNumber, serverNumber: number)
            }
            serve(sender, packet.clientNumber, at: now)
            return LinkTestPacket(.acceptance, clientNumber: packet.clientNumber, serverNumber: number)
        case .farewell where packet.serverNumber == number && client == sender:
            client = nil
            return nil
        case .confirmation, .farewell, .challenge, .acceptance, .refusal:
            return nil
        }
    }

    /// Whether the place is free, or is to be given to `sender`.
    private func mayServe(_ sender: Endpoint, at now: Instant) -> Bool {
        guard let client, client != sender, let turn else { return true }
        return turn.host != sender.address.hostPrefix && now - turn.start >= Self.turnTime
    }

    private mutating func serve(_ sender: Endpoint, _ number: UInt64, at now: Instant) {
        if let client, client != sender { displaced = (client, clientNumber) }
        let host = sender.address.hostPrefix
        if turn?.host != host || now - lastReceived >= Self.turnTime { turn = (host, now) }
        client = sender
        clientNumber = number
        lastReceived = now
    }
}
