internal import TenfourChannelKeys

/// A datagram of pairing (Protocol/11-pairing.md). Nothing in it is authenticated yet.
package struct PairingMessage: Hashable, Sendable {
    package enum Kind: UInt8, Sendable {
        /// The initiator asks for the responder's number.
        case hello = 1
        /// The responder's number, which depends on the initiator's address.
        case challenge = 2
        /// The initiator's share of CPace.
        case share = 3
        /// The responder's share of CPace.
        case shareReply = 4
        /// The initiator's proof that it knows the words.
        case confirmation = 5
        /// The responder's proof, and the sealed link.
        case link = 6
        /// The initiator has the link.
        case receipt = 7
        /// The responder refuses.
        case refusal = 8
    }

    package var kind: Kind
    /// The number that the initiator has drawn for this run.
    package var initiator: UInt64
    /// The responder's number; zero in HELLO.
    package var responder: UInt64 = 0

    package static let firstByte = UInt8(ascii: "p")
    static let version: UInt8 = 1
    static let headerByteCount = 20
    static let tagByteCount = 32
    /// The place of the sealed link in LINK.
    static let sealedOffset = headerByteCount + tagByteCount
    static let maximumByteCount = sealedOffset + ChannelLink.maximumByteCount + AEAD.tagByteCount

    init(_ kind: Kind, initiator: UInt64, responder: UInt64 = 0) {
        self.kind = kind
        self.initiator = initiator
        self.responder = responder
    }

    /// Reads the header and checks the length. Nil if the datagram is not a message of this version.
    package init?(parsing datagram: Span<UInt8>) {
        guard datagram.count >= Self.headerByteCount, datagram[0] == Self.firstByte, datagram[1] == Self.version,
            let kind = Kind(rawValue: datagram[2]), datagram[3] == 0,
            Self.byteCounts(of: kind).contains(datagram.count)
        else { return nil }
        self.init(kind, initiator: datagram.number(at: 4), responder: datagram.number(at: 12))
        if kind == .hello, responder != 0 { return nil }
        if kind == .refusal, !datagram.isZero(in: 22..<24) { return nil }
    }

    private static func byteCounts(of kind: Kind) -> ClosedRange<Int> {
        switch kind {
        case .hello, .challenge: headerByteCount...headerByteCount
        case .share, .shareReply: headerByteCount + CPace.shareByteCount...headerByteCount + CPace.shareByteCount
        case .confirmation: sealedOffset...sealedOffset
        case .link: sealedOffset + AEAD.tagByteCount + 1...maximumByteCount
        case .receipt: headerByteCount + AEAD.tagByteCount...headerByteCount + AEAD.tagByteCount
        case .refusal: headerByteCount + 4...headerByteCount + 4
        }
    }

    /// Whether `datagram`, which is this message, says that the responder's words no longer hold for anybody.
    package func refusesAll(_ datagram: Span<UInt8>) -> Bool {
        kind == .refusal && PairingRefusal(rawValue: datagram[Self.headerByteCount]) == .void
    }

    /// Returns the message with `body` behind its header.
    package func bytes(_ body: [UInt8] = []) -> [UInt8] {
        [UInt8](capacity: Self.headerByteCount + body.count) { datagram in
            datagram.append(Self.firstByte)
            datagram.append(Self.version)
            datagram.append(kind.rawValue)
            datagram.append(0)
            datagram.append(number: initiator)
            datagram.append(number: responder)
            datagram.append(body.span)
        }
    }

    /// The session identifier of CPace: both numbers.
    var session: [UInt8] {
        [UInt8](capacity: 16) {
            $0.append(number: initiator)
            $0.append(number: responder)
        }
    }
}

/// The reason why the responder refuses.
enum PairingRefusal: UInt8, Sendable {
    /// The words were wrong. The second byte of the body is the number of guesses that are left.
    case wrongWords = 1
    /// The words have been guessed at too often, or have been used.
    case void = 2
}
