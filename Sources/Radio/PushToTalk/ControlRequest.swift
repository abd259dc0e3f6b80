public import TenfourJSON

/// What a process asks of the control socket: one line of JSON with the member `command`.
public struct ControlRequest: Sendable {
    public let command: String
    /// The whole object, for commands with arguments.
    public let json: JSON

    /// Parses a line without its end. Accepts any bytes; returns nil for what is not a request.
    public init?(parsing line: [UInt8]) {
        guard let json = try? JSON(parsing: line), case .text(let command)? = json.member("command") else { return nil }
        self.json = json
        self.command = command
    }
}
