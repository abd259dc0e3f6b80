import TenfourAudioCore
import TenfourPackets
public import TenfourSession

/// Reads arbitrary bytes as a sequence of events for a session, so that a fuzzer can vary it. Each step has three
/// bytes (action and sender, time that passes, length of the datagram), followed by the datagram.
public struct DatagramScript: ~Escapable {
    private let bytes: Span<UInt8>
    private var position = 0

    @_lifetime(copy bytes)
    public init(_ bytes: Span<UInt8>) { self.bytes = bytes }

    public struct Step: Sendable {
        public var action: Action
        /// The index of the sender, 0…7.
        public var sender: Int
        public var pause: Duration
        public var datagram: Range<Int>
    }

    public enum Action: Sendable {
        case receive
        /// Sends a packet of our own, whose length is given by the first byte of the datagram.
        case send
        /// Delivers our own last datagram back to us.
        case loop
        case leave
    }

    /// Returns the next step; nil at the end. `datagram` is a range of the script's bytes.
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

    /// Returns the time that passes before a step: negative, zero, or up to years.
    private static func pause(_ byte: UInt8) -> Duration {
        switch byte {
        case 0..<128: .milliseconds(Int(byte) / 4)
        case 128..<250: .milliseconds(250 * (Int(byte) - 127))
        case 250: .seconds(-1)
        case 251: .seconds(3_600)
        default: .seconds(86_400 * 365 * (Int(byte) - 251))
        }
    }

    /// Returns the address of sender `index`. The first is the configured remote; the second is another port of the
    /// same host.
    public static func endpoint(_ index: Int) -> Endpoint {
        Endpoint(.v4(0xC000_0200 + UInt32(max(index, 1))), port: 5_004 + UInt16(index))
    }
}
