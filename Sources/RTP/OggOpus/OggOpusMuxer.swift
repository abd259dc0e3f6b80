internal import COgg
public import TenfourAudioCore

/// Makes Ogg Opus (RFC 7845): two header pages, then pages whose granule positions count frames from the beginning of the
/// stream. The C functions are `ogg_stream_packetin` and `ogg_stream_flush`.
///
/// It may be used by one thread at a time.
@safe public final class OggOpusMuxer {
    /// The pages with the identification header and the comment header. Equal arguments of `init` give equal bytes.
    public private(set) var header: [UInt8] = []

    private let stream = UnsafeMutablePointer<ogg_stream_state>.allocate(capacity: 1)
    private var packetNumber: Int64 = 0

    /// An Opus packet, and the granule position of its end.
    public struct Packet: Equatable, Sendable {
        public var payload: [UInt8]
        public var end: FrameCount

        public init(payload: [UInt8], end: FrameCount) {
            self.payload = payload
            self.end = end
        }
    }

    /// Begins a stream. `serial` is its number; `comments` is the packet of the comment header.
    public init(serial: UInt32, _ identification: OpusIdentificationHeader, comments: [UInt8]) {
        unsafe ogg_stream_init(stream, Int32(bitPattern: serial))
        header =
            pages(of: [Packet(payload: identification.bytes, end: .zero)], isLast: false)
            + pages(of: [Packet(payload: comments, end: .zero)], isLast: false)
    }

    deinit {
        unsafe ogg_stream_clear(stream)
        unsafe stream.deallocate()
    }

    /// Returns the packets as one page; as several only if they are long. With `isLast`, the last packet ends the stream,
    /// and there must be one.
    public func append(_ packets: [Packet], isLast: Bool = false) -> [UInt8] { pages(of: packets, isLast: isLast) }

    private func pages(of packets: [Packet], isLast: Bool) -> [UInt8] {
        for (index, packet) in packets.enumerated() {
            var payload = packet.payload
            let count = payload.count
            let endsStream = isLast && index == packets.count - 1
            unsafe payload.withUnsafeMutableBufferPointer { bytes in
                var packet = unsafe ogg_packet(
                    packet: bytes.baseAddress, bytes: count, b_o_s: packetNumber == 0 ? 1 : 0,
                    e_o_s: endsStream ? 1 : 0, granulepos: Int64(packet.end.rawValue), packetno: packetNumber)
                unsafe ogg_stream_packetin(stream, &packet)
            }
            packetNumber += 1
        }
        var bytes: [UInt8] = []
        var page = unsafe ogg_page()
        while unsafe ogg_stream_flush(stream, &page) != 0 {
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: page.header, count: page.header_len))
            unsafe bytes.append(contentsOf: UnsafeBufferPointer(start: page.body, count: page.body_len))
        }
        return bytes
    }
}
