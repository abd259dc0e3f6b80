/// A member of a relay. The number of a member that has left is used again.
public struct MemberID: Hashable, Sendable {
    public let rawValue: Int32

    public init(_ number: Int) { rawValue = Int32(number) }

    public var number: Int { Int(rawValue) }
}

/// A channel of a relay, in the order of its configuration. The index of a channel that is gone is used again.
public struct ChannelIndex: Hashable, Sendable {
    public let rawValue: Int32

    public init(_ number: Int) { rawValue = Int32(number) }

    public var number: Int { Int(rawValue) }
}

/// A member's place among those that may talk.
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
