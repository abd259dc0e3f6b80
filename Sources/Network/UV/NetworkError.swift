import CUV
import Glibc
public import TenfourSession
package import TenfourSystem

/// The reason why opening a socket or another start operation failed: the C function that failed, its error number, and
/// the remedy.
///
/// A failure of a single datagram is not a `NetworkError`; `SocketStatistics` counts it.
public struct NetworkError: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// A process uses the UDP port already. `by` is nil if the process belongs to another user.
        case portInUse(UInt16, by: PortHolder?)
        /// Only root may open the port, as with ports below 1024.
        case portReserved(UInt16)
        /// Another program already listens at the TCP port.
        case tcpPortInUse(UInt16)
        /// Only root may listen at the TCP port, as with ports below 1024.
        case tcpPortReserved(UInt16)
        /// No interface of this machine has the address.
        case addressNotLocal(IPAddress)
        /// A link-local address is given without its interface.
        case interfaceMissing(IPAddress)
        /// The kernel does not support IPv6.
        case noIPv6
        /// No interface has this name or address; `present` are the names of the interfaces.
        case noSuchInterface(String, present: [String])
        /// The group cannot be joined: there is no multicast route, or the interface does not support multicast.
        case groupNotReachable(IPAddress)
        /// The address is not in 224.0.0.0/4 or ff00::/8.
        case notAGroup(IPAddress)
        /// The name has no address.
        case unknownHost(String)
        /// The name could not be looked up now; it may exist.
        case lookupFailed(String)
        /// The descriptor is a regular file or a device such as `/dev/null`. It is always ready, so a loop cannot wait
        /// for it.
        case alwaysReady(fileDescriptor: Int32)
        /// The process has reached its limit of open files.
        case tooManyOpenFiles
        /// The operation failed for another reason, which `code` states.
        case refused
    }

    public var reason: Reason
    /// The C function that failed.
    public var function: String
    /// `errno`, or the number of a `UV_EAI_…` constant of libuv without its sign; 0 when the kernel was not called.
    public var code: Int32

    public init(_ reason: Reason, function: String, code: Int32) {
        self.reason = reason
        self.function = function
        self.code = code
    }

    /// The text of an `errno`, in English in any locale. The C function is `uv_strerror_r`.
    public static func text(for code: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            return unsafe String(cString: uv_strerror_r(-abs(code), start, buffer.count))
        }
    }
}

extension NetworkError: CustomStringConvertible {
    /// One sentence that ends with the remedy; behind it, where the sentence leaves it open, the system's words in brackets.
    public var description: String {
        switch reason {
        case .refused, .lookupFailed, .groupNotReachable:
            code == 0 ? sentence : "\(sentence) (\(Self.text(for: code)))"
        default: sentence
        }
    }

    /// Returns a free port of the same parity above `port`, whose neighbour is free for RTCP; nil if there is none near.
    private static func freePort(near port: UInt16) -> UInt16? {
        stride(from: Int(port) + 2, through: min(Int(port) + 32, 65_534), by: 2).map { UInt16($0) }.first { port in
            PortHolder.sockets(of: port).isEmpty && PortHolder.sockets(of: port + 1).isEmpty
        }
    }

    /// The name of the first interface that is up and not the loopback interface. The C function is
    /// `uv_interface_addresses`.
    private static var exampleInterface: String {
        var start: UnsafeMutablePointer<uv_interface_address_t>?
        var count: Int32 = 0
        guard unsafe uv_interface_addresses(&start, &count) == 0 else { return "eth0" }
        defer { unsafe uv_free_interface_addresses(start, count) }
        let interfaces = unsafe UnsafeBufferPointer(start: start, count: Int(count))
        for index in interfaces.indices where unsafe interfaces[index].is_internal == 0 {
            return unsafe String(cString: interfaces[index].name)
        }
        return "eth0"
    }

    private var sentence: String {
        switch reason {
        case .portInUse(let port, let holder):
            "UDP port \(port) is in use by \(holder?.description ?? "another program"); choose another"
                + (Self.freePort(near: port).map { ", such as -p \($0)" } ?? "") + ", or end that program"
        case .portReserved(let port):
            "UDP port \(port) is reserved for root; choose one from 1024 to 65535 with -p"
        case .tcpPortInUse(let port):
            "TCP port \(port) is in use by another program; choose another, or end that program"
        case .tcpPortReserved(let port):
            "TCP port \(port) is reserved for root; choose one from 1024 to 65535"
        case .addressNotLocal(let address):
            "\(address) is not an address of this machine; use one that `ip address` shows, or leave it out for all of them"
        case .interfaceMissing(let address):
            "\(address) is a link-local address, which needs its interface; write it as \(address)%\(Self.exampleInterface)"
        case .noIPv6:
            "this machine has no IPv6; use an IPv4 address"
        case .noSuchInterface(let name, let present):
            "there is no network interface \(name); this machine has \(present.joined(separator: ", "))"
        case .groupNotReachable(let group):
            "the multicast group \(group) cannot be joined, because no route or interface leads to it; name an interface that supports multicast"
        case .notAGroup(let address):
            "\(address) is not a multicast group; those are 224.0.0.0 to 239.255.255.255 and the IPv6 addresses that begin with ff"
        case .unknownHost(let name):
            "no host is called \(name); check the spelling, or give its IP address"
        case .lookupFailed(let name):
            "the name \(name) could not be looked up; check the network and its name server, or give the IP address"
        case .alwaysReady(let fileDescriptor):
            "file descriptor \(fileDescriptor) is a file or device, which cannot be waited for; connect a terminal or a pipe"
        case .tooManyOpenFiles:
            "too many files are open; raise the limit with `ulimit -n`, or end other programs"
        case .refused:
            "the system refused a request; try again, or end other programs"
        }
    }
}

extension NetworkError {
    package init(_ error: ThreadError) { self.init(.refused, function: "pthread_create", code: error.code) }

    /// Creates an error from a libuv code, which is a negated `errno`.
    init(_ function: String, _ code: Int32) {
        let tooMany = code == -EMFILE || code == -ENFILE
        self.init(tooMany ? .tooManyOpenFiles : .refused, function: function, code: -code)
    }

    /// Throws if the result of a libuv function is negative.
    static func check(_ function: String, _ code: Int32) throws(NetworkError) {
        if code < 0 { throw NetworkError(function, code) }
    }
}
