internal import COgg
internal import TenfourAudioCore

/// Makes live Ogg Opus (RFC 7845): two header pages, then pages whose granule positions count from the beginning of the
/// stream. A listener begins with any page. The C functions are `ogg_stream_packetin` and `ogg_stream_flush`.
@safe public final class OggMuxer: LiveMuxer {
    public private(set) var header: [UInt8] = []

    private let stream = UnsafeMutablePointer<ogg_stream_state>.allocate(capacity: 1)
    private var packetNumber: Int64 = 0

    /// Begins a stream. `serial` is its number, `title` the channel's name in its tags.
    public init(serial: UInt32, title: String) {
        unsafe ogg_stream_init(stream, Int32(bitPattern: serial))
        header = page(of: [(OpusIdentificationHeader.bytes, 0)]) + page(of: [(Self.tags(title), 0)])
    }

    deinit {
        unsafe ogg_stream_clear(stream)
        unsafe stream.deallocate()
    }

    public func append(_ packets: [LivePacket]) -> [UInt8] {
        page(of: packets.map { ($0.payload, Int64($0.end.rawValue)) })
    }

    /// Returns the packets, each with the granule position of its end, as one page; more only if they are long.
    private func page(of packets: [(payload: [UInt8], granule: Int64)]) -> [UInt8] {
        for (payload, granule) in packets {
            var payload = payload
            let count = payload.count
            unsafe payload.withUnsafeMutableBufferPointer { bytes in
                var packet = unsafe ogg_packet(
                    packet: bytes.baseAddress, bytes: count, b_o_s: packetNumber == 0 ? 1 : 0, e_o_s: 0,
                    granulepos: granule, packetno: packetNumber)
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

    /// The comment header (RFC 7845 section 5.2).
    private static func tags(_ title: String) -> [UInt8] {
        let comment = Array("TITLE=\(title)".utf8)
        return Array("OpusTags".utf8) + counted(Array("tenfour".utf8)) + [1, 0, 0, 0] + counted(comment)
    }

    private static func counted(_ bytes: [UInt8]) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) } + bytes
    }
}
