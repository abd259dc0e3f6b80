/// A value of one of D-Bus's types, as an argument, in an answer or in a signal.
public indirect enum BusValue: Hashable, Sendable {
    case bool(Bool)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case text(String)
    /// The path of an object (`o`).
    case objectPath(String)
    /// An array of byte strings (`aay`).
    case byteStrings([[UInt8]])
    /// An array of texts (`as`).
    case texts([String])
    /// A value that names its own type (`v`).
    case variant(BusValue)
    /// Values by name, each of a type of its own (`a{sv}`). They are written in the order of their names.
    case properties([String: BusValue])
}

/// One interface of an object that a service offers on a message bus.
public struct BusObject: Hashable, Sendable {
    /// The service's well-known name, such as `org.freedesktop.RealtimeKit1`.
    public var service: String
    public var path: String
    public var interface: String

    public init(service: String, path: String, interface: String) {
        self.service = service
        self.path = path
        self.interface = interface
    }
}

/// A signal that an object has sent over a message bus.
public struct BusSignal: Hashable, Sendable {
    /// The unique name of the connection that sent it, such as `:1.7`. The bus guarantees that it is true.
    public var sender: String
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [BusValue]

    public init(sender: String, path: String, interface: String, member: String, arguments: [BusValue]) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
    }
}
