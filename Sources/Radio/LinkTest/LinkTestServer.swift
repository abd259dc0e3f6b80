public import TenfourAudioCore
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

    private let secret: UInt64
    private var lastHeard = Instant.start

    /// An asker that has been silent so long has gone.
    public static let patience = Duration.seconds(3)
    public static let maximumDatagramByteCount = 1_500

    /// `secret` is chance's, and nobody else's.
    public init(secret: UInt64) { self.secret = secret }

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

    private mutating func reply(to greeting: LinkTestPacket, from sender: Endpoint, at now: Instant) -> LinkTestPacket? {
        let number = number(for: greeting.question, of: sender)
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

    /// What only somebody who receives at `sender` can know. Nothing is remembered for it, so that greetings from anywhere
    /// cannot use us up. The hash is SipHash, begun with a secret.
    private func number(for question: UInt64, of sender: Endpoint) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(secret)
        hasher.combine(sender)
        hasher.combine(question)
        hasher.combine(secret)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}
