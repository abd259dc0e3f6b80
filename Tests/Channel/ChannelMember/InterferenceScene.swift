import TenfourAudioCore
import TenfourChannelKeys
import TenfourChannelMember
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSession
import TestSupport

extension InterferenceTests {
    /// A talker and a listener, and what the talker sends.
    final class Scene {
        let talker: Member
        let listener: Member
        let air: Airwaves
        let interferer = Interferer()
        /// The talker's latest announcement and packet.
        private(set) var announced: AnnouncedEpoch?
        private(set) var latest: (number: SequenceNumber, timestamp: UInt32)?

        init(_ relay: TinyRelay, speech: Speech = Speech(), network: NetworkModel = .init(delay: .milliseconds(10))) {
            talker = Member(0, Family.configuration(.talk), ssrc: 9, firstSequenceNumber: 1_000, speech: speech)
            listener = Member(1, Family.configuration(.listen), ssrc: 5)
            air = Airwaves([talker, listener], relay, network: network)
            air.watch = { [unowned self] datagram, member in
                guard member == 1 else { return }
                if case .announcement(let real) = try? ControlPacket(parsing: datagram.span) {
                    announced = real.content
                } else if (128...191).contains(datagram[0]) {
                    latest = (
                        SequenceNumber(rawValue: UInt16(datagram[2]) << 8 | UInt16(datagram[3])),
                        datagram[4..<8].reduce(0) { $0 << 8 | UInt32($1) }
                    )
                }
            }
        }

        /// The index of the talker's latest packet.
        var index: PacketIndex {
            guard let announced, let latest else { return PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0)) }
            return announced.index.closest(latest.number)
        }

        var timestamp: UInt32 { latest?.timestamp ?? 0 }

        func inject(_ datagram: [UInt8]) { air.inject(datagram, to: 1) }

        /// Announces an epoch ahead, and sends one packet of it.
        func forge(
            _ epoch: Epoch, _ ssrc: SSRC = InterferenceTests.ssrc, index: PacketIndex, timestamp: UInt32? = nil
        ) throws {
            inject(interferer.announcement(of: epoch, ssrc, index: index, at: air.now))
            inject(try interferer.packet(of: epoch, ssrc, index: index, timestamp: timestamp ?? self.timestamp))
        }

        /// The share of the talker's packets since `start` that the listener hears, under any SSRC or as the talker's.
        func share(since start: Instant, asItsOwn: Bool) -> Double {
            let numbers = listener.heard.filter {
                !Interferer.isForged($0) && (!asItsOwn || $0.packet.ssrc == InterferenceTests.ssrc) && $0.at >= start
            }.map(\.number)
            return Double(Set(numbers).count) / ((air.now - start) / .milliseconds(20))
        }

        var forgedCount: Int {
            listener.heard.count { Interferer.isForged($0) && $0.packet.ssrc == InterferenceTests.ssrc }
        }

        var interferences: [ChannelEvent] {
            listener.eventsOnly.filter { if case .interference = $0 { true } else { false } }
        }
    }
}
