public import TenfourChannelKeys
internal import TenfourRelayCore

/// The key that all relays of a cluster share: 32 random bytes (Protocol/09-cluster.md).
public struct ClusterKey: Sendable, Equatable {
    let bytes: SecretBytes

    public static let byteCount = 32

    public init(_ bytes: SecretBytes) {
        precondition(bytes.count == Self.byteCount, "a cluster key has 32 bytes")
        self.bytes = bytes
    }

    /// Draws a new key. `generator` must be a CSPRNG outside tests.
    public init(using generator: inout some RandomNumberGenerator) {
        bytes = SecretBytes(count: Self.byteCount, using: &generator)
    }

    /// Reads a key from 64 hexadecimal digits, around which there may be white space; nil if the text is anything else.
    public init?(parsing text: [UInt8]) {
        let digits = text.split(whereSeparator: Self.isSpace)
        guard digits.count == 1, digits[0].count == 2 * Self.byteCount else { return nil }
        let values = digits[0].compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard values.count == 2 * Self.byteCount else { return nil }
        let bytes = stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
        self.bytes = SecretBytes(copying: bytes.span)
    }

    /// The key in hexadecimal digits, as in the operator's file.
    public var text: String {
        bytes.withBytes { bytes in bytes.indices.map { hexadecimal(bytes[$0]) }.joined() }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || 9...13 ~= byte }

    // MARK: - Derivation

    var clusterID: UInt64 { number(label("cluster id")) }

    func relayKey(of boot: BootID) -> SecretBytes {
        HKDF.expand(bytes, label("relay") { $0.append(number: boot.rawValue) }, count: 32)
    }

    func tag(of channel: RelayConfiguration.Channel) -> UInt64 {
        number(
            label("channel") {
                $0.append(number: channel.talkJoin.channelID)
                $0.append(number: channel.listenJoin.channelID)
            })
    }

    private func number(_ label: [UInt8]) -> UInt64 {
        HKDF.expand(bytes, label, count: 8).withBytes { $0.number(at: 0) }
    }
}

/// The subjects of a cluster's messages in NATS.
struct ClusterSubjects: Sendable {
    private let prefix: String
    let presence: String

    init(_ key: ClusterKey) {
        prefix = "tenfour.1." + hexadecimal(key.clusterID)
        presence = prefix + ".presence"
    }

    func channel(_ tag: UInt64) -> String {
        prefix + ".channel." + hexadecimal(tag)
    }

    func relay(_ boot: BootID) -> String {
        prefix + ".relay." + hexadecimal(boot.rawValue)
    }
}

/// Returns a number in as many lower-case hexadecimal digits as it can have.
private func hexadecimal(_ number: some FixedWidthInteger & UnsignedInteger) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: number.bitWidth / 4 - digits.count) + digits
}
