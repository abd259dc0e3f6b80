public import TenfourSession

extension IPAddress {
    /// Whether an interface of this machine has the address. Tries to bind a socket to the address, because each kind
    /// of address has its own rules. The C function is `bind`.
    public var isLocal: Bool {
        do throws(NetworkError) {
            let loop = try EventLoop()
            _ = try UDPSocket(on: loop, bindingTo: Endpoint(self, port: 0))
            loop.closeAll()
            return true
        } catch {
            if case .addressNotLocal = error.reason { return false }
            return true
        }
    }
}
