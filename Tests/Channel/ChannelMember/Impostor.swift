import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TestSupport

/// A relay without the static key, which does what everybody with a listen link can do.
final class Impostor: RelayEnd {
    let endpoint = Airwaves.relay
    private var output: [(bytes: [UInt8], to: Endpoint)] = []
    private var randomness = SeededRandom(seed: 46)
    private var cookies: Cookies
    private let ownKey: RelayKey
    private let showsTheRelaysKey: Bool
    private(set) var joinCount = 0

    init(showsTheRelaysKey: Bool) {
        self.showsTheRelaysKey = showsTheRelaysKey
        cookies = Cookies(using: &randomness)
        ownKey = RelayKey(using: &randomness)
    }

    func receive(_ datagram: [UInt8], from sender: Endpoint, at now: Instant) {
        let (address, own) = (PeerAddress(sender), PeerAddress(endpoint))
        switch try? ControlPacket(parsing: datagram.span) {
        case .hello(let nonce):
            let cookie = cookies.cookie(for: nonce, from: address, to: own, at: now)
            put(to: sender) { ControlPacket.writeCookie(cookie, nonce: nonce, into: &$0) }
        case .hello2(let nonce, _):
            let cookie = Cookie2(
                cookies.cookie(for: nonce, from: address, to: own, at: now),
                relay: (showsTheRelaysKey ? Family.relayKey : ownKey).publicKey,
                owner: OwnerHash(ownerless: Family.listen.listenJoin))
            put(to: sender) { ControlPacket.writeCookie2(cookie, nonce: nonce, into: &$0) }
        case .join(let join):
            joinCount += 1
            // The proof is right, and the message is for another key.
            precondition(join.isProved(by: Family.listen.listenJoin) && OpenedJoin(join, by: ownKey) == nil)
            put(to: sender) { output in
                for byte in [99, 1, 12, 0] { output.append(UInt8(byte)) }
                for byte in datagram[4..<20] { output.append(byte) }
                while output.count < 105 { output.append(.random(in: 0 ... .max, using: &randomness)) }
            }
        default: break
        }
    }

    private func put(to endpoint: Endpoint, _ write: (inout OutputSpan<UInt8>) -> Void) {
        output.append(([UInt8](capacity: 1_500, initializingWith: write), endpoint))
    }

    /// Returns an announcement and `count` SRTP packets of a talker that does not exist.
    func media(count: Int) throws -> [[UInt8]] {
        let epoch = Epoch(at: Airwaves.clock(at: .start + .seconds(1)), random: 7)
        let key = Family.listen.mediaRoot.masterKey(.aesCounterMode, ssrc: SSRC(7), epoch: epoch)
        var sender = try SRTPContext(sending: key, ssrc: SSRC(7))
        let announcement = Announcement(
            suite: .aesCounterMode, ssrc: SSRC(7), epoch: epoch,
            index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 1)),
            at: Airwaves.clock(at: .start + .seconds(1)), under: Family.listen.mediaRoot)
        var datagrams = [[UInt8](capacity: 56) { ControlPacket.write(announcement, into: &$0) }]
        for number in 1...count {
            datagrams.append(
                try [UInt8](capacity: 200) { output in
                    RTPHeader(
                        marker: number == 1, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: UInt16(number)),
                        timestamp: RTPTimestamp(rawValue: UInt32(number) * 960), ssrc: SSRC(7)
                    ).write(into: &output)
                    output.append(repeating: 0xFC, count: 60)
                    try sender.protect(&output)
                })
        }
        return datagrams
    }

    func nextDatagram() -> (bytes: [UInt8], to: Endpoint)? { output.isEmpty ? nil : output.removeFirst() }

    var nextDeadline: Instant? { nil }

    func timeElapsed(at now: Instant) {}
}
