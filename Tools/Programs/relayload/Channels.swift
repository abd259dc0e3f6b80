import TenfourChannelKeys

/// The channels of the measurement, whose keys are the same in every process.
enum Channels {
    static func name(_ number: Int) -> String { "load\(number)" }

    static func keys(_ number: Int) -> ChannelKeys {
        var generator = Counter(number: UInt64(number))
        return ChannelKeys(name: name(number), secret: Secret(.talk, using: &generator))
    }

    static func relayID(_ port: UInt16) -> RelayID { RelayID(host: "127.0.0.1", port: port) }

    /// A predictable generator, so that every process derives the same keys.
    private struct Counter: RandomNumberGenerator {
        var number: UInt64

        mutating func next() -> UInt64 {
            number &+= 0x9E37_79B9_7F4A_7C15
            return number
        }
    }
}
