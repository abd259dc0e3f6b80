import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets

/// The packets that a network delivers, with their times: originals, and copies or retransmissions if these are
/// enabled.
struct Deliveries {
    struct Delivery {
        /// The number of the packet in the speech.
        var index: Int
        var origin: PacketOrigin
        /// The arrival time, in frames after the first packet was sent.
        var at: FrameCount
    }

    /// All deliveries in the order of arrival.
    private(set) var list: [Delivery] = []
    /// The bit rate of all payloads, with RED headers, copies and retransmissions, in bit/s.
    private(set) var bitRate = 0.0

    struct Repair {
        /// The distances at which copies are sent, in packets after the original.
        var copyDistances: [Int] = []
        /// The time from the request for a lost packet to its retransmission; nil for no retransmissions.
        var roundTrip: FrameCount?
        /// A packet is requested only if its retransmission can arrive within this time after the packet was sent.
        var patience = FrameCount(0)
    }

    init(of speech: EncodedSpeech, through network: NetworkModel, seed: UInt64, repair: Repair = Repair()) {
        var link = EmulatedLink(network, seed: seed)
        var bytes = 0
        var arrivals: [FrameCount?] = []
        for (index, packet) in speech.packets.enumerated() {
            let copies = repair.copyDistances.map { index - $0 }.filter { $0 >= 0 }
            let payload =
                copies.reduce(packet.count) { $0 + speech.packets[$1].count }
                + (repair.copyDistances.isEmpty ? 0 : 4 * copies.count + 1)
            bytes += payload
            let arrival = Self.arrival(&link, payload, sent: speech.sent(index))
            arrivals.append(arrival)
            guard let arrival else { continue }
            list.append(Delivery(index: index, origin: .original, at: arrival))
            for copy in copies { list.append(Delivery(index: copy, origin: .copy, at: arrival)) }
        }
        if let roundTrip = repair.roundTrip {
            var again = EmulatedLink(network, seed: seed &+ 7_919)
            bytes += retransmit(speech, arrivals, &again, roundTrip, repair.patience)
        }
        list.sort { ($0.at.rawValue, $0.index, $0.origin.rawValue) < ($1.at.rawValue, $1.index, $1.origin.rawValue) }
        bitRate = Double(bytes * 8) / (Double(speech.packets.count) * 0.02)
    }

    /// Adds retransmissions. A gap is detected when the next packet arrives. The missing packets are requested at that
    /// time, and again after each round trip.
    private mutating func retransmit(
        _ speech: EncodedSpeech, _ arrivals: [FrameCount?], _ link: inout EmulatedLink, _ roundTrip: FrameCount,
        _ patience: FrameCount
    ) -> Int {
        var bytes = 0
        for index in arrivals.indices where arrivals[index] == nil {
            guard let noticed = arrivals[index...].compactMap({ $0 }).first else { continue }
            var asked = noticed
            let halfWay = FrameCount(roundTrip.rawValue / 2)
            while asked + roundTrip <= speech.sent(index) + patience {
                bytes += speech.packets[index].count
                let sent = asked + halfWay
                if let arrival = Self.arrival(&link, speech.packets[index].count, sent: sent) {
                    list.append(Delivery(index: index, origin: .retransmitted, at: arrival + halfWay))
                    break
                }
                asked += roundTrip
            }
        }
        return bytes
    }

    private static func arrival(_ link: inout EmulatedLink, _ byteCount: Int, sent: FrameCount) -> FrameCount? {
        switch link.fate(ofPacket: byteCount, at: Instant.start + sent.duration()) {
        case .lost: nil
        case .delivered(let at), .doubled(let at, _): FrameCount(at - .start)
        }
    }
}
