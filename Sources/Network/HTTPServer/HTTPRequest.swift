public import TenfourSession

/// A request that is well-formed: its target is decoded, and its Host, if it has one, is a host.
public struct HTTPRequest: Sendable {
    public enum Method: Sendable { case get, head }

    public var method: Method
    /// The decoded path. It begins with `/`, is valid UTF-8, and contains no control character and no component `.` or
    /// `..`.
    public var path: String
    /// The decoded parameters of the query, in their order.
    public var query: [(name: String, value: String)]
    public var fields: [(name: String, value: String)]
    /// The address of the client, or of the proxy in front.
    public var remote: Endpoint

    public init(
        method: Method = .get, path: String, query: [(name: String, value: String)] = [],
        fields: [(name: String, value: String)] = [], remote: Endpoint = Endpoint(.loopbackV4, port: 0)
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.fields = fields
        self.remote = remote
    }

    /// The first parameter of the query with this name.
    public func parameter(_ name: String) -> String? { query.first { $0.name == name }?.value }

    /// The first header field with this name, in any case.
    public func field(_ name: String) -> String? {
        let name = name.lowercased()
        return fields.first { $0.name.lowercased() == name }?.value
    }

    /// The values of all header fields with this name, in any case.
    func values(of name: String) -> [String] {
        let name = name.lowercased()
        return fields.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// The Host field: a name or address, and a port if it is not 80. It is nil only for HTTP/1.0.
    public var host: String? { field("Host") }
}
