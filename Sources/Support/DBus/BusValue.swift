/// A value of one of D-Bus's basic types, as an argument or in an answer.
public enum BusValue: Hashable, Sendable {
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case text(String)
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
