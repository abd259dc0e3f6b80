internal import TenfourOggOpus

/// Makes live Ogg Opus (RFC 7845): two header pages, then pages whose granule positions count from the beginning of the
/// stream. A listener begins with any page.
public final class OggMuxer: LiveMuxer {
    public var header: [UInt8] { muxer.header }

    private let muxer: OggOpusMuxer

    /// Begins a stream. `serial` is its number, `title` the channel's name in its tags.
    public init(serial: UInt32, title: String) {
        muxer = OggOpusMuxer(serial: serial, .live, comments: OpusComments([.init("TITLE", title)]).bytes())
    }

    public func append(_ packets: [LivePacket]) -> [UInt8] {
        muxer.append(packets.map { OggOpusMuxer.Packet(payload: $0.payload, end: $0.end) })
    }
}
