import CUV
import Glibc
public import TenfourSession

extension UDPSocket {
    /// Opens a socket that receives one multicast group only: it is bound to the group's address, and shares the port
    /// with other programs on this machine that receive the group. `interface` is a name or an address; nil lets the
    /// routing table decide.
    public convenience init(
        on loop: EventLoop, joining group: Endpoint, interface: String?, options: SocketOptions = SocketOptions()
    ) throws(NetworkError) {
        var options = options
        options.reusesAddress = true
        var group = group
        if let interface, case .v6(let high, let low, 0) = group.address {
            group.address = .v6(high: high, low: low, scope: try interfaceIndex(of: interface))
        }
        try self.init(on: loop, bindingTo: group, options: options)
        do throws(NetworkError) {
            try join(group: group.address, interface: interface)
        } catch {
            close()
            throw error
        }
    }

    /// Joins another `group`, until the socket is closed. `interface` is a name or an address; nil lets the routing
    /// table decide. The C function is `setsockopt` with MCAST_JOIN_GROUP.
    public func join(group: IPAddress, interface: String?) throws(NetworkError) {
        if isClosed { throw NetworkError("setsockopt(MCAST_JOIN_GROUP)", -EBADF) }
        guard group.isMulticast else { throw NetworkError(.notAGroup(group), function: "join", code: 0) }
        var request = group_req()
        if let interface {
            request.gr_interface = try interfaceIndex(of: interface)
        } else if case .v6(_, _, let scope) = group {
            request.gr_interface = scope
        }
        unsafe withUnsafeMutableBytes(of: &request.gr_group) { bytes in
            unsafe bytes.storeBytes(
                of: SocketAddress(Endpoint(group, port: 0), family: group.family), as: SocketAddress.self)
        }
        let level = group.family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6
        do throws(NetworkError) {
            try Self.set(MCAST_JOIN_GROUP, level, "MCAST_JOIN_GROUP", request, on: fileDescriptor)
        } catch {
            let isUnreachable = [ENODEV, EADDRNOTAVAIL, ENETUNREACH].contains(error.code)
            throw isUnreachable
                ? NetworkError(.groupNotReachable(group), function: error.function, code: error.code) : error
        }
    }
}

/// The index of the interface with this name or address. The C functions are `if_nametoindex` and
/// `uv_interface_addresses`.
func interfaceIndex(of nameOrAddress: String) throws(NetworkError) -> UInt32 {
    let index = unsafe if_nametoindex(nameOrAddress)
    if index != 0 { return index }

    var start: UnsafeMutablePointer<uv_interface_address_t>?
    var count: Int32 = 0
    try NetworkError.check("uv_interface_addresses", unsafe uv_interface_addresses(&start, &count))
    defer { unsafe uv_free_interface_addresses(start, count) }

    var names: [String] = []
    let interfaces = unsafe UnsafeBufferPointer(start: start, count: Int(count))
    for index in interfaces.indices {
        let address = unsafe withUnsafeBytes(of: interfaces[index].address) { bytes in
            unsafe bytes.baseAddress.flatMap { unsafe Endpoint($0.assumingMemoryBound(to: sockaddr.self))?.address }
        }
        if address?.description == nameOrAddress { return unsafe if_nametoindex(interfaces[index].name) }
        let name = unsafe String(cString: interfaces[index].name)
        if !names.contains(name) { names.append(name) }
    }
    throw NetworkError(.noSuchInterface(nameOrAddress, present: names), function: "if_nametoindex", code: ENODEV)
}
