import TenfourAudioCore
import TenfourPackets
public import TenfourSession

/// Arbitrary bytes read as what happens to a station, so that a fuzzer can write stories: each step is three bytes (what
/// happens and who sends, how much time passes, how long the datagram is) and the datagram.
public struct DatagramScript: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0

    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    public struct Step: Sendable {
        public var action: Action
        /// 0…7.
        public var sender: Int
        public var pause: Duration
        public var datagram: Range<Int>
    }

    public enum Action: Sendable {
        case receive
        /// Our own packet is sent, and the datagram's first byte tells how long it is.
        case send
        /// What we sent last comes back.
        case loop
        case leave
    }

    /// The next step; nil at the end. `datagram` lies in the bytes that the script was made of.
    @_lifetime(self: copy self)
    public mutating func next() -> Step? {
        guard bytes.count - position >= 3 else { return nil }
        let (head, time, length) = (bytes[position], bytes[position + 1], Int(bytes[position + 2]))
        let start = position + 3
        position = min(start + length, bytes.count)
        let action: Action =
            switch head >> 3 {
            case 0: .send
            case 1: .loop
            case 2: .leave
            default: .receive
            }
        return Step(action: action, sender: Int(head & 7), pause: Self.pause(time), datagram: start..<position)
    }

    /// From backwards and not at all to years.
    private static func pause(_ byte: UInt8) -> Duration {
        switch byte {
        case 0..<128: .milliseconds(Int(byte) / 4)
        case 128..<250: .milliseconds(250 * (Int(byte) - 127))
        case 250: .seconds(-1)
        case 251: .seconds(3_600)
        default: .seconds(86_400 * 365 * (Int(byte) - 251))
        }
    }

    /// The address of sender `index`. The first has been typed by a person; the second is the same host, another port.
    public static func endpoint(_ index: Int) -> Endpoint {
        Endpoint(.v4(0xC000_0200 + UInt32(max(index, 1))), port: 5_004 + UInt16(index))
    }
}
