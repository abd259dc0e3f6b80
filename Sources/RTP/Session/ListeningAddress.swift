extension Endpoint {
    /// Parses an address to listen at: `192.0.2.1:9104`, `[::1]:9104`, or only a port, which is then open to this
    /// machine alone (127.0.0.1). Nil for anything else, and for a multicast group.
    public init?(listeningAt text: some StringProtocol) {
        let isPort = !text.isEmpty && text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard let endpoint = Endpoint(isPort ? "127.0.0.1:\(text)" : String(text)), !endpoint.address.isMulticast else {
            return nil
        }
        self = endpoint
    }
}
