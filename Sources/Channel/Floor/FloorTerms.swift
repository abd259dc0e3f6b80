/// The priority of a request, and of the talker.
public enum FloorPriority: UInt8, Hashable, Comparable, Sendable {
    case normal = 0
    /// Takes the floor from a talker of normal priority. Each participant has one a minute.
    case emergency = 1

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The cause of a denial (3GPP TS 24.380 section 8.2.6.2).
public enum FloorDenial: UInt8, Hashable, Sendable, CaseIterable {
    case anotherTalks = 1
    /// The participant has talked longer than it may, and must pause.
    case tooEarly = 4
    case mayOnlyListen = 5
    case queueIsFull = 7
    case other = 255
}

/// The cause for which the floor is taken back (3GPP TS 24.380 section 8.2.10.2).
public enum FloorRevocation: UInt8, Hashable, Sendable, CaseIterable {
    /// The participant has talked longer than it may.
    case tooLong = 2
    /// The arbiter gives up the floor, because another relay arbitrates.
    case noPermission = 3
    /// An emergency has taken the floor.
    case preempted = 4
    case other = 255
}

/// Conditions under which the floor is taken or idle.
public struct FloorConditions: OptionSet, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The talker knows no floor control. It was given the floor because it was heard.
    public static let talkerIsUnaware = Self(rawValue: 1)
    /// The relay drops media of members that do not have the floor.
    public static let isRequired = Self(rawValue: 2)
}

/// The number of a decision. Of two decisions about one floor, the later one has the higher revision.
public struct FloorRevision: Hashable, Comparable, Sendable {
    /// Increases when another relay of a cluster becomes the arbiter. 1 outside a cluster.
    public var term: UInt32
    /// Increases by one with each change of the talker.
    public var state: UInt32

    public init(term: UInt32 = 0, state: UInt32 = 0) {
        self.term = term
        self.state = state
    }

    var isZero: Bool { term == 0 && state == 0 }

    public static func < (left: Self, right: Self) -> Bool { (left.term, left.state) < (right.term, right.state) }
}
