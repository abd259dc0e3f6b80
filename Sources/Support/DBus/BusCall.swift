internal import CSDBus

/// A method call that another program makes of an object of this program.
public struct BusCall: Hashable, Sendable {
    /// The unique name of the caller's connection, such as `:1.7`. The bus guarantees that it is true.
    public var sender: String
    public var path: String
    /// The interface; empty if the caller names none, which D-Bus permits.
    public var interface: String
    public var member: String
    /// The types of the arguments in D-Bus's notation, such as `ox`.
    public var signature: String
    /// The arguments; nil if one of them has a type that `BusValue` does not have, or is a text of more than 64 KiB.
    public var arguments: [BusValue]?

    public init(
        sender: String, path: String, interface: String, member: String, signature: String, arguments: [BusValue]?
    ) {
        self.sender = sender
        self.path = path
        self.interface = interface
        self.member = member
        self.signature = signature
        self.arguments = arguments
    }
}

/// The answer to a method call.
public enum BusReply: Hashable, Sendable {
    case values([BusValue])
    /// An error by its D-Bus name, with a sentence for people.
    case error(name: String, message: String)
}

extension BusCall {
    /// Reads a method call; nil if the message is none.
    init?(_ message: OpaquePointer) {
        guard unsafe sdbus.sd_bus_message_is_method_call(message, nil, nil) > 0,
            let path = unsafe sdbus.sd_bus_message_get_path(message),
            let member = unsafe sdbus.sd_bus_message_get_member(message)
        else { return nil }
        func text(_ text: UnsafePointer<CChar>?) -> String { unsafe text.map { unsafe String(cString: $0) } ?? "" }
        unsafe self.init(
            sender: text(sdbus.sd_bus_message_get_sender(message)), path: String(cString: path),
            interface: text(sdbus.sd_bus_message_get_interface(message)), member: String(cString: member),
            signature: text(sdbus.sd_bus_message_get_signature(message, 1)), arguments: readValues(from: message))
    }
}
