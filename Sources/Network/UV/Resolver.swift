import CUV
import Glibc
public import TenfourSession

/// Resolves a host name to endpoints by the system's name service switch: files, DNS, and `.local` names if nss-mdns is
/// installed. If the host is an address, with or without an interface (`fe80::1%eth0`), it is returned without a
/// lookup.
///
/// A link-local address of IPv6 needs its interface.
///
/// The endpoints are unique and sorted in the order in which to try them (RFC 6724). At least one is returned.
public enum Resolver {
    /// Starts a lookup and calls `completion` once from the loop, unless the lookup is cancelled or the loop ends
    /// earlier. The C function is `uv_getaddrinfo`, which runs on a thread of libuv.
    @discardableResult
    public static func resolve(
        _ host: String, port: UInt16, on loop: EventLoop,
        completion: @escaping (Result<[Endpoint], NetworkError>) -> Void
    ) throws(NetworkError) -> Lookup {
        let lookup = Lookup(host, port, completion)
        try lookup.start(on: loop)
        return lookup
    }

    /// Looks up a name and blocks until the name server has answered or timed out. Use it only at the start of a
    /// program.
    public static func resolve(_ host: String, port: UInt16) throws(NetworkError) -> [Endpoint] {
        let lookup = Lookup(host, port) { _ in }
        return try lookup.wait(on: EventLoop())
    }
}

/// A running lookup. The object exists until the lookup has ended. Use it on the loop's thread only. The C type is
/// `uv_getaddrinfo_t`.
@safe public final class Lookup {
    private let host: String
    private let port: UInt16
    private var completion: ((Result<[Endpoint], NetworkError>) -> Void)?
    private weak var loop: EventLoop?
    private let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)

    init(_ host: String, _ port: UInt16, _ completion: @escaping (Result<[Endpoint], NetworkError>) -> Void) {
        self.host = host
        self.port = port
        self.completion = completion
    }

    deinit { unsafe request.deallocate() }

    /// Cancels the lookup, so that its completion is not called.
    public func cancel() {
        guard completion != nil else { return }
        completion = nil
        unsafe request.withMemoryRebound(to: uv_req_t.self, capacity: 1) { _ = unsafe uv_cancel($0) }
    }

    func start(on loop: EventLoop) throws(NetworkError) {
        let code = unsafe startRequest(loop, lookupEnded)
        if code != 0 { throw NetworkError(lookingUp: host, code) }
        self.loop = loop
        loop.keep(self)
        unsafe request.pointee.data = Unmanaged.passRetained(self).toOpaque()
    }

    func wait(on loop: EventLoop) throws(NetworkError) -> [Endpoint] {
        let code = unsafe startRequest(loop, nil)
        return try unsafe endpoints(code, code == 0 ? request.pointee.addrinfo : nil)
    }

    private func startRequest(_ loop: EventLoop, _ callback: uv_getaddrinfo_cb?) -> Int32 {
        // Refuses a name that contains NUL. The system would ignore the text after the NUL and resolve another host.
        if host.utf8.contains(0) { return UV_EAI_NONAME.rawValue }
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        unsafe hints.ai_protocol = Int32(IPPROTO_UDP)
        return unsafe uv_getaddrinfo(loop.loop, request, callback, host, nil, &hints)
    }

    /// Converts `list` to endpoints and frees it.
    private func endpoints(
        _ code: Int32, _ list: UnsafeMutablePointer<addrinfo>?
    ) throws(NetworkError) -> [Endpoint] {
        defer { unsafe uv_freeaddrinfo(list) }
        if code != 0 { throw NetworkError(lookingUp: host, code) }
        var found: [Endpoint] = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe entry.pointee.ai_addr, let endpoint = unsafe Endpoint(address) {
                let endpoint = Endpoint(endpoint.address, port: port)
                if !found.contains(endpoint) { found.append(endpoint) }
            }
            unsafe next = unsafe entry.pointee.ai_next
        }
        guard let first = found.first else {
            throw NetworkError(.unknownHost(host), function: "uv_getaddrinfo", code: 0)
        }
        // The kernel would choose any interface, or refuse each datagram.
        found.removeAll { $0.address.isLinkLocalWithoutScope }
        if found.isEmpty {
            throw NetworkError(.interfaceMissing(first.address), function: "uv_getaddrinfo", code: 0)
        }
        return found
    }

    fileprivate func done(_ code: Int32, _ list: UnsafeMutablePointer<addrinfo>?) {
        loop?.forget(self)
        let completion = completion
        self.completion = nil
        do throws(NetworkError) {
            let found = try unsafe endpoints(code, list)
            completion?(.success(found))
        } catch {
            completion?(.failure(error))
        }
    }
}

@c private func lookupEnded(
    _ request: UnsafeMutablePointer<uv_getaddrinfo_t>?, _ code: Int32, _ list: UnsafeMutablePointer<addrinfo>?
) {
    guard let request = unsafe request, let data = unsafe request.pointee.data else { return }
    unsafe Unmanaged<Lookup>.fromOpaque(data).takeRetainedValue().done(code, list)
}

extension NetworkError {
    /// Creates an error from the result of `uv_getaddrinfo`.
    init(lookingUp host: String, _ code: Int32) {
        self.init("uv_getaddrinfo", code)
        switch uv_errno_t(code) {
        case UV_EAI_NONAME, UV_EAI_NODATA, UV_EAI_ADDRFAMILY, UV_EINVAL, UV_ENAMETOOLONG: reason = .unknownHost(host)
        case UV_EAI_AGAIN, UV_EAI_FAIL: reason = .lookupFailed(host)
        default: break
        }
    }
}
