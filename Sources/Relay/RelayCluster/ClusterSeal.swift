internal import TenfourChannelKeys
internal import TenfourRelayCore

/// A message for the other relays of the cluster.
public struct ClusterMessage: Sendable, Equatable {
    /// The NATS subject.
    public var subject: String
    public var bytes: [UInt8]
}

/// The kind of a message of the cluster.
enum MessageKind: UInt8 {
    case presence = 1
    case state = 2
    case datagram = 3
    case nack = 4
    case retransmission = 5
    case report = 6
    case leaving = 7
    case floor = 8
}

/// The bytes before the encrypted part of a message: version, kind, boot id, counter.
struct MessageHeader {
    var kind: MessageKind
    var boot: BootID
    var counter: UInt64

    static let byteCount = 28
    private static let version: UInt8 = 1

    init(_ kind: MessageKind, from boot: BootID, counter: UInt64) {
        self.kind = kind
        self.boot = boot
        self.counter = counter
    }

    /// Returns nil if the bytes are no message of this version.
    init?(parsing bytes: Span<UInt8>) {
        guard bytes.count >= Self.byteCount + AEAD.tagByteCount, bytes[0] == Self.version,
            let kind = MessageKind(rawValue: bytes[1]), bytes.isZero(in: 2..<4)
        else { return nil }
        self.init(kind, from: BootID(rawValue: bytes.number(at: 4)), counter: bytes.number(at: 20))
        guard counter > 0 else { return nil }
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(Self.version)
        bytes.append(kind.rawValue)
        bytes.append(zeros: 2)
        bytes.append(number: boot.rawValue)
        bytes.append(number: counter)
    }

    /// The header and the subject, which the seal protects too.
    fileprivate func associatedData(_ subject: String) -> [UInt8] {
        let subject = subject.utf8
        return [UInt8](capacity: Self.byteCount + subject.count) {
            write(into: &$0)
            for byte in subject { $0.append(byte) }
        }
    }
}

/// Seals the messages of this relay.
struct MessageSealer: Sendable {
    let boot: BootID
    private let key: SecretBytes
    /// The counter of the last message.
    private(set) var counter: UInt64 = 0

    init(_ key: ClusterKey, boot: BootID) {
        self.boot = boot
        self.key = key.relayKey(of: boot)
    }

    mutating func seal(_ kind: MessageKind, _ body: Span<UInt8>, on subject: String) -> [UInt8] {
        counter += 1
        let header = MessageHeader(kind, from: boot, counter: counter)
        let data = header.associatedData(subject)
        return [UInt8](capacity: MessageHeader.byteCount + body.count + AEAD.tagByteCount) { message in
            header.write(into: &message)
            key.withBytes { AEAD.seal(body, counter: counter, data: data.span, key: $0, into: &message) }
        }
    }
}

/// Opens the messages of one other relay; accepts each counter once.
struct MessageOpener: Sendable {
    private let key: SecretBytes
    private var window = ReplayWindow()

    init(_ key: ClusterKey, boot: BootID) { self.key = key.relayKey(of: boot) }

    enum Failure: Error {
        case replayed
        case forged
    }

    /// Decrypts a message in place, and returns the range of its body.
    mutating func open(
        _ message: inout [UInt8], _ header: MessageHeader, on subject: String
    ) throws(Failure) -> Range<Int> {
        guard window.accepts(header.counter) else { throw .replayed }
        let data = header.associatedData(subject)
        let end = message.count
        var bytes = message.mutableSpan
        var sealed = bytes._mutatingExtracting(MessageHeader.byteCount..<end)
        guard key.withBytes({ AEAD.open(&sealed, counter: header.counter, data: data.span, key: $0) }) else {
            throw .forged
        }
        window.insert(header.counter)
        return MessageHeader.byteCount..<(end - AEAD.tagByteCount)
    }
}
