/// The number of a member of a relay. It is reused after the member has left.
public struct MemberID: Hashable, Sendable {
    public let rawValue: Int32

    public init(_ number: Int) { rawValue = Int32(number) }

    public var number: Int { Int(rawValue) }
}

/// The index of a channel of a relay, at first in the order of the configuration. The index of a removed channel is
/// reused. Channels of stations that have paired have indices while a session is in them.
public struct ChannelIndex: Hashable, Sendable {
    public let rawValue: Int32

    public init(_ number: Int) { rawValue = Int32(number) }

    public var number: Int { Int(rawValue) }
}

/// The index of a member with the talk role in `TalkerRegistry`.
struct TalkerIndex: Hashable, Sendable {
    let rawValue: Int32

    init(_ number: Int) { rawValue = Int32(number) }

    var number: Int { Int(rawValue) }
}

extension MemberID: ExpressibleByIntegerLiteral, CustomStringConvertible {
    public init(integerLiteral number: Int) { self.init(number) }

    public var description: String { "\(rawValue)" }
}

extension ChannelIndex: ExpressibleByIntegerLiteral, CustomStringConvertible {
    public init(integerLiteral number: Int) { self.init(number) }

    public var description: String { "\(rawValue)" }
}
