import CUV
import Glibc
import TenfourSession

/// An `Endpoint` in the kernel's form: a `sockaddr_in` or a `sockaddr_in6`, in memory that fits the larger of the two.
struct SocketAddress {
    private var storage = sockaddr_in6()

    /// Converts `endpoint`. `family` is the address family of the socket: an IPv6 socket reaches an IPv4 host by its
    /// mapped address (RFC 4291 section 2.5.5.2).
    init(_ endpoint: Endpoint, family: Int32) {
        switch endpoint.address {
        case .v4(let number) where family == AF_INET:
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = endpoint.port.bigEndian
            address.sin_addr.s_addr = number.bigEndian
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: address, as: sockaddr_in.self) }
        case .v4(let number):
            set(high: 0, low: mappedPrefix | UInt64(number), scope: 0, port: endpoint.port)
        case .v6(let high, let low, let scope):
            set(high: high, low: low, scope: scope, port: endpoint.port)
        }
    }

    private mutating func set(high: UInt64, low: UInt64, scope: UInt32, port: UInt16) {
        storage.sin6_family = sa_family_t(AF_INET6)
        storage.sin6_port = port.bigEndian
        storage.sin6_scope_id = scope
        unsafe withUnsafeMutableBytes(of: &storage.sin6_addr) { bytes in
            unsafe bytes.storeBytes(of: high.bigEndian, as: UInt64.self)
            unsafe bytes.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
    }

    /// Calls `body` with a pointer that is valid during the call.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        unsafe withUnsafeBytes(of: storage) { bytes in
            guard let start = bytes.baseAddress else { preconditionFailure("a sockaddr_in6 without bytes") }
            return unsafe body(start.assumingMemoryBound(to: sockaddr.self))
        }
    }
}

extension Endpoint {
    /// Converts a `sockaddr_in` or `sockaddr_in6`; nil for any other family. A mapped IPv4 address becomes IPv4.
    init?(_ address: UnsafePointer<sockaddr>) {
        let raw = unsafe UnsafeRawPointer(address)
        switch Int32(unsafe address.pointee.sa_family) {
        case AF_INET:
            let v4 = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            self.init(.v4(UInt32(bigEndian: v4.sin_addr.s_addr)), port: UInt16(bigEndian: v4.sin_port))
        case AF_INET6:
            let v6 = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
            let (high, low) = unsafe withUnsafeBytes(of: v6.sin6_addr) { bytes in
                unsafe (
                    UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                    UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
                )
            }
            let port = UInt16(bigEndian: v6.sin6_port)
            if high == 0, low & ~UInt64(UInt32.max) == mappedPrefix {
                self.init(.v4(UInt32(truncatingIfNeeded: low)), port: port)
            } else {
                self.init(.v6(high: high, low: low, scope: v6.sin6_scope_id), port: port)
            }
        default:
            return nil
        }
    }
}

/// The lower 64 bits of the address ::ffff:0:0, with which the mapped IPv4 addresses begin.
private let mappedPrefix: UInt64 = 0xFFFF_0000_0000
