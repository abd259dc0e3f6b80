/// Makes the bytes of a container from the packets of a live stream.
public protocol LiveMuxer {
    /// The bytes that every listener receives first.
    var header: [UInt8] { get }

    /// Returns one page or cluster with `packets`, which follow each other. A listener may begin with any of them.
    mutating func append(_ packets: [LivePacket]) -> [UInt8]
}
