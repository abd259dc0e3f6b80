import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourNetworkEmulator
import TenfourPackets

/// Writes the packets that a network delivers in one run to a capture file, for other receivers.
struct Packets: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Write the packets that arrive through a network to a capture file (pcap), as RTP of payload type 111.")

    @OptionGroup var trace: TraceOptions

    @Option(
        help:
            "Loss that the encoder expects, in percent (OPUS_SET_PACKET_LOSS_PERC); above 0, the encoder adds in-band FEC."
    )
    var expectLoss = 0

    @Option(name: .shortAndLong, help: "The capture file to write (pcap).")
    var output: String

    private static let opus: UInt8 = 111

    func run() throws {
        let model = try trace.model()
        let packets = try trace.packets(expectLoss: expectLoss)
        let deliveries = Deliveries(of: packets, through: model, seed: trace.seed)
        var capture = Capture()
        for delivery in deliveries.list {
            capture.append(datagram(delivery.index, of: packets), at: delivery.at)
        }
        try capture.write(to: output)
    }

    private func datagram(_ index: Int, of packets: EncodedSpeech) -> [UInt8] {
        let header = RTPHeader(
            marker: index == 0, payloadType: Self.opus,
            sequenceNumber: SequenceNumber(rawValue: UInt16(truncatingIfNeeded: index)),
            timestamp: RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: packets.sent(index).rawValue)), ssrc: SSRC(1))
        return [UInt8](capacity: 2_048) { datagram in
            header.write(into: &datagram)
            for byte in packets.packets[index] { datagram.append(byte) }
        }
    }
}

/// A pcap file of IPv4 packets without a link layer (LINKTYPE_RAW), little-endian, with timestamps in microseconds.
private struct Capture {
    private(set) var bytes: [UInt8] = []

    init() {
        for word in [0xA1B2_C3D4, 0x0004_0002, 0, 0, 65_535, 101] as [UInt32] { append(word) }
    }

    mutating func append(_ datagram: [UInt8], at time: FrameCount) {
        let microseconds = UInt32(time.rawValue * 1_000 / 48)
        let length = UInt16(28 + datagram.count)
        append(microseconds / 1_000_000)
        append(microseconds % 1_000_000)
        append(UInt32(length))
        append(UInt32(length))
        bytes += [0x45, 0, UInt8(length >> 8), UInt8(length & 0xFF), 0, 0, 0, 0, 64, 17, 0, 0]
        bytes += [192, 0, 2, 1, 192, 0, 2, 2]
        bytes += [0x13, 0x8C, 0x13, 0x8C, UInt8((length - 20) >> 8), UInt8((length - 20) & 0xFF), 0, 0]
        bytes += datagram
    }

    func write(to path: String) throws {
        guard let file = unsafe fopen(path, "we") else { throw ValidationError("cannot write \(path)") }
        let count = unsafe fwrite(bytes, 1, bytes.count, file)
        guard unsafe fclose(file) == 0, count == bytes.count else { throw ValidationError("cannot write \(path)") }
    }

    private mutating func append(_ word: UInt32) {
        for shift in stride(from: 0, through: 24, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: word >> UInt32(shift)))
        }
    }
}
