public import TenfourSession

extension IPAddress {
    /// Whether an interface of this machine has it. The C function is `bind`, as every address has its own rules.
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
