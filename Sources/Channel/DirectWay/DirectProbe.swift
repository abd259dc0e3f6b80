public import TenfourChannelKeys

/// PROBE2: asks a member at an address to answer, or is the answer. It is 40 bytes long, like its answer.
public struct DirectProbe: Hashable, Sendable {
    public static let kind: UInt8 = 15
    public static let byteCount = 40
    /// The index of the sender.
    public let sender: UInt16
    /// The index of the receiver.
    public let receiver: UInt16
    let counter: UInt64
    /// 56 random bits. An echo has those of the probe that it answers.
    package let number: UInt64
    package let isEcho: Bool
    private let tag: UInt128

    static let numberBitCount = 56
    private static let authenticatedByteCount = 24

    /// Whether a datagram has the header of a probe, which this version understands.
    public static func begins(_ datagram: Span<UInt8>) -> Bool {
        datagram.count >= 4 && datagram[0] == ControlPacket.firstByte && datagram[1] == 1 && datagram[2] == kind
    }

    /// Parses a datagram. Accepts any bytes, and authenticates nothing.
    public init(parsing datagram: Span<UInt8>) throws(ControlParseError) {
        guard datagram.count == Self.byteCount else { throw .length(datagram.count) }
        guard Self.begins(datagram) else { throw .notControl }
        guard datagram[3] == 0, datagram[23] <= 1 else { throw .value }
        sender = datagram.number(at: 4)
        receiver = datagram.number(at: 6)
        counter = datagram.number(at: 8)
        guard counter > 0, sender != receiver else { throw .value }
        number = datagram.number(at: 16) >> 8
        isEcho = datagram[23] == 1
        tag = datagram.number(at: Self.authenticatedByteCount)
    }

    /// Makes a probe or an echo. `key` is the sender's probe key of the pair.
    package init(
        from sender: UInt16, to receiver: UInt16, counter: UInt64, number: UInt64, isEcho: Bool, key: SecretBytes
    ) {
        self.sender = sender
        self.receiver = receiver
        self.counter = counter
        self.number = number
        self.isEcho = isEcho
        let head = Self.head(sender, receiver, counter, number, isEcho)
        tag = shortMAC(key: key, of: head.span)
    }

    /// The datagram.
    public var bytes: [UInt8] {
        Self.head(sender, receiver, counter, number, isEcho) + [UInt8](capacity: 16) { $0.append(number: tag) }
    }

    /// Whether the owner of `key` made the probe. Compares all bits, so that the time says nothing.
    func isAuthentic(under key: SecretBytes) -> Bool {
        tag ^ shortMAC(key: key, of: Self.head(sender, receiver, counter, number, isEcho).span) == 0
    }

    private static func head(
        _ sender: UInt16, _ receiver: UInt16, _ counter: UInt64, _ number: UInt64, _ isEcho: Bool
    ) -> [UInt8] {
        [UInt8](capacity: authenticatedByteCount) { bytes in
            bytes.append(ControlPacket.firstByte)
            bytes.append(1)
            bytes.append(kind)
            bytes.append(0)
            bytes.append(number: sender)
            bytes.append(number: receiver)
            bytes.append(number: counter)
            bytes.append(number: number << 8 | (isEcho ? 1 : 0))
        }
    }
}
