import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCluster
import TenfourRelayCore
import TenfourSeededRandom

/// The start of every trial of a cluster: its key, its subjects, and the other relays, by Protocol/09-cluster.md.
struct ClusterPlay: Sendable {
    let key: ClusterKey
    /// The tag of the channel that the relay has members of.
    let tag: UInt64
    let peers: [Peer]
    let presence: String
    let channel: String
    /// The subject of the relay alone.
    let relay: String
    private let boot: BootID
    private let relayKey: SecretBytes

    static let shared = ClusterPlay()

    private init() {
        let bytes = SecretBytes(copying: [UInt8](repeating: 9, count: ClusterKey.byteCount).span)
        func number(_ label: [UInt8]) -> UInt64 { HKDF.expand(bytes, label, count: 8).withBytes { $0.number(at: 0) } }
        func derivedKey(of boot: UInt128) -> SecretBytes {
            HKDF.expand(bytes, label("relay") { $0.append(number: boot) }, count: 32)
        }
        key = ClusterKey(bytes)
        let configuration = RelayPlay.shared.configuration.channels[0]
        tag = number(
            label("channel") {
                $0.append(number: configuration.talkJoin.channelID)
                $0.append(number: configuration.listenJoin.channelID)
            })
        let prefix = "tenfour.1." + hexadecimal(number(label("cluster id")), digits: 16)
        presence = prefix + ".presence"
        channel = prefix + ".channel." + hexadecimal(tag, digits: 16)
        // One boot id before the relay's, and one behind it: the relay with the lowest arbitrates.
        peers = [1, UInt128.max].map { [tag] in Peer(boot: $0, key: derivedKey(of: $0), tags: [tag]) }
        var randomness = SeededRandom(seed: 16)
        var relay = RelayPlay.shared.relay()
        boot = RelayCluster(key, for: &relay, at: .start, using: &randomness).boot
        relayKey = derivedKey(of: boot.rawValue)
        self.relay = prefix + ".relay." + hexadecimal(boot.rawValue, digits: 32)
    }

    /// Opens a message of the relay, and returns its counter and its nonce if it is a PRESENCE.
    func presence(in message: ClusterMessage, of boot: BootID) -> (counter: UInt64, nonce: UInt128)? {
        guard message.bytes[1] == 1 else { return nil }
        precondition(boot == self.boot, "another relay")
        let counter: UInt64 = message.bytes.span.number(at: 20)
        let data = message.bytes[..<28] + message.subject.utf8
        var sealed = Array(message.bytes[28...])
        var span = sealed.mutableSpan
        let isAuthentic = relayKey.withBytes { AEAD.open(&span, counter: counter, data: Array(data).span, key: $0) }
        precondition(isAuthentic, "the other relays cannot read a message")
        return (counter, sealed.span.number(at: 0))
    }

    /// Another relay.
    struct Peer: Sendable {
        let boot: UInt128
        let key: SecretBytes
        var tags: [UInt64]
        var nonce: UInt128 = 1
        private var counter: UInt64 = 0

        init(boot: UInt128, key: SecretBytes, tags: [UInt64]) {
            self.boot = boot
            self.key = key
            self.tags = tags
        }

        mutating func message(_ kind: UInt8, _ body: Span<UInt8>, on subject: String) -> [UInt8] {
            counter += 1
            let header = [UInt8](capacity: 28) {
                $0.append(1)
                $0.append(kind)
                $0.append(zeros: 2)
                $0.append(number: boot)
                $0.append(number: counter)
            }
            let data = header + subject.utf8
            return [UInt8](capacity: header.count + body.count + AEAD.tagByteCount) { message in
                message.append(header.span)
                key.withBytes { AEAD.seal(body, counter: counter, data: data.span, key: $0, into: &message) }
            }
        }

        /// The body of a PRESENCE that repeats the nonce and the counter of another relay.
        func presence(heard other: BootID, _ otherNonce: UInt128, _ otherCounter: UInt64) -> [UInt8] {
            [UInt8](capacity: 61 + 8 * tags.count) {
                $0.append(number: nonce)
                $0.append(1)
                $0.append(number: other.rawValue)
                $0.append(number: otherNonce)
                $0.append(number: otherCounter)
                $0.append(number: UInt32(0))
                for tag in tags { $0.append(number: tag) }
            }
        }
    }
}

private func hexadecimal(_ number: some FixedWidthInteger & UnsignedInteger, digits: Int) -> String {
    let text = String(number, radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
}
