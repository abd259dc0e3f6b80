/// A header line of a server's answer.
public struct ResponseHeader: Hashable, Sendable {
    /// The name as the server wrote it, such as `Content-Type`; the case of names makes no difference. Control characters are
    /// replaced, and the name is cut after 64 characters.
    public var name: String
    /// The value without white space at its ends. Control characters are replaced, and the value is cut after 1 024
    /// characters.
    public var value: String

    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

extension ByteSourceState {
    /// Returns the first value of the header `name`, whose case makes no difference; nil if the answer has none.
    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
}
