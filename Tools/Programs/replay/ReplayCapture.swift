import TenfourAudioCore
import TenfourCallQuality
import TenfourCommandSupport
import TenfourJSON
import TenfourLinkTest
import TenfourPacketCapture
import TenfourPackets
import TenfourRadio
import TenfourSession

/// A capture file: the datagrams that may be RTP or RTCP, and the number of all other packets.
struct ReplayCapture {
    private(set) var log = DatagramLog()
    /// The reason why the file was not read to its end; nil if it was.
    private(set) var damage: String?
    private(set) var datagramCount = 0
    private let path: String
    private var packetCount = 0
    private var passedOver: [CapturedDatagram.SkipReason: Int] = [:]

    /// The longest capture accepted, so that its audio fits into a WAV file.
    private static let longest = Duration.seconds(12 * 3_600)

    init(_ path: String) throws(RadioError) {
        self.path = path
        let bytes = try Console.read(path)
        do throws(CaptureError) {
            try read(bytes.span)
        } catch {
            throw RadioError(.unavailable, "\(path) \(error)")
        }
        log.sort()
    }

    private mutating func read(_ bytes: Span<UInt8>) throws(CaptureError) {
        var reader = try CaptureReader(bytes)
        while let packet = reader.next(in: bytes) {
            packetCount += 1
            do throws(CapturedDatagram.SkipReason) {
                let datagram = try CapturedDatagram(packet, in: bytes)
                datagramCount += 1
                // RTP and RTCP are recognised by their version number, 2.
                guard let first = datagram.payload.first, bytes[first] >> 6 == 2 else { continue }
                log.append(
                    bytes.extracting(datagram.payload), from: datagram.source, to: datagram.destination, at: packet.time
                )
            } catch {
                passedOver[error, default: 0] += 1
            }
        }
        damage = reader.damage
    }

    /// Returns all datagrams sent to the destination of `stream`, with RTCP on the next higher port.
    func log(of stream: RTPStream) throws(RadioError) -> DatagramLog {
        var own = DatagramLog()
        let place = stream.destination
        for entry in log.entries where entry.destination.address == place.address {
            guard entry.destination.port == place.port || entry.destination.port == place.port &+ 1 else { continue }
            own.append(log.datagram(entry), from: entry.source, to: entry.destination, at: entry.at)
        }
        if let first = own.entries.first, let last = own.entries.last, last.at - first.at > Self.longest {
            let hours = decimal((last.at - first.at) / .seconds(3_600), places: 0)
            throw RadioError(
                .unavailable,
                "\(path) lasts \(hours) hours by its timestamps, but at most 12 hours can be played: cut it with editcap -A and -B"
            )
        }
        return own
    }

    /// A summary such as `talk.pcap: 3020 packets, 3000 of them UDP; skipped 12 that are not IP`.
    var summary: String {
        var text = "\(path): \(packetCount) packets, \(datagramCount) of them UDP"
        let others = CapturedDatagram.SkipReason.allCases.filter { passedOver[$0] != nil }
        if !others.isEmpty {
            text +=
                "; skipped " + others.map { "\(passedOver[$0, default: 0]) \($0.words)" }.joined(separator: ", ")
        }
        if let damage { text += "; the capture is damaged, and was read up to the damage: \(damage)" }
        return text
    }

    var passedOverJSON: JSON {
        .object(
            CapturedDatagram.SkipReason.allCases.filter { passedOver[$0] != nil }
                .map { ($0.name, .integer(passedOver[$0, default: 0])) })
    }
}

extension CapturedDatagram.SkipReason {
    fileprivate var words: String {
        switch self {
        case .unknownLink: "of an unknown link type"
        case .notIP: "that are not IP"
        case .notUDP: "that are not UDP"
        case .fragment: "that are fragments"
        case .cutOff: "truncated by the capture"
        case .malformed: "that are malformed"
        }
    }

    fileprivate var name: String {
        switch self {
        case .unknownLink: "unknown_link"
        case .notIP: "not_ip"
        case .notUDP: "not_udp"
        case .fragment: "fragments"
        case .cutOff: "cut_off"
        case .malformed: "malformed"
        }
    }
}
