public import TenfourSession

extension IPAddress {
    /// Whether an interface of this machine has the address. It tries to bind a socket to it, because each kind of
    /// address has rules of its own. The C function is `bind`.
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
