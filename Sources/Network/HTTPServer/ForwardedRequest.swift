internal import TenfourSession

extension HTTPRequest {
    /// Returns the address of the client for which a proxy has passed the request on, by X-Forwarded-For. Returns nil
    /// if the request does not come from a proxy that `isProxy` trusts, or if the proxy names no client.
    func client(trusting isProxy: (IPAddress) -> Bool) -> IPAddress? {
        guard isProxy(remote.address) else { return nil }
        // Each proxy appends the address from which it has the request. Only what trusted proxies have appended is
        // believed, because the client can write the rest.
        for entry in values(of: "X-Forwarded-For").flatMap({ $0.split { ", \t".contains($0) } }).reversed() {
            guard let address = IPAddress(entry) else { return nil }
            if !isProxy(address) { return address }
        }
        return nil
    }
}
