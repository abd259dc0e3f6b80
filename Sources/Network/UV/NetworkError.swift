import CUV
import Glibc
public import TenfourSession
package import TenfourThreads

/// Why the machine or the network refused what we asked at start: which C function said so, its number, and the remedy.
///
/// Nothing that happens to a single datagram is a `NetworkError`; that is counted in `SocketStatistics`.
public struct NetworkError: Error, Hashable, Sendable {
    public enum Reason: Hashable, Sendable {
        /// Somebody has the UDP port: nil where it is another user's program.
        case portInUse(UInt16, by: PortHolder?)
        /// The port may be opened by root only, as those below 1024 are.
        case portReserved(UInt16)
        /// No interface of this machine has the address.
        case addressNotLocal(IPAddress)
        /// A link-local address without its interface.
        case interfaceMissing(IPAddress)
        /// The kernel has no IPv6.
        case noIPv6
        /// Neither the name nor the address of an interface here; `present` are the names that there are.
        case noSuchInterface(String, present: [String])
        /// The group could not be joined, because there is no multicast route or the interface does not do multicast.
        case groupNotReachable(IPAddress)
        /// Not an address of 224.0.0.0/4 or ff00::/8.
        case notAGroup(IPAddress)
        /// No address belongs to this name.
        case unknownHost(String)
        /// The name could not be looked up now; it may exist.
        case lookupFailed(String)
        /// A regular file or a device such as `/dev/null`, which is always ready, so that there is nothing to wait for.
        case alwaysReady(fileDescriptor: Int32)
        /// The process has as many files open as it may.
        case tooManyOpenFiles
        /// Anything else: `code` says what.
        case refused
    }

    public var reason: Reason
    /// The C function that refused.
    public var function: String
    /// `errno`, or the number of a `UV_EAI_…` constant of libuv without its sign; 0 when the kernel was not asked.
    public var code: Int32

    public init(_ reason: Reason, function: String, code: Int32) {
        self.reason = reason
        self.function = function
        self.code = code
    }

    /// The message that belongs to an `errno`, in English whatever the locale. The C function is `uv_strerror_r`.
    public static func text(for code: Int32) -> String {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
            guard let start = buffer.baseAddress else { return "" }
            return unsafe String(cString: uv_strerror_r(-abs(code), start, buffer.count))
        }
    }
}

extension NetworkError: CustomStringConvertible {
    /// One sentence that ends with the remedy, and in brackets who said so.
    public var description: String {
        let source = code == 0 ? function : "\(function): \(Self.text(for: code))"
        return "\(sentence) (\(source))"
    }

    private var sentence: String {
        switch reason {
        case .portInUse(let port, let holder):
            "UDP port \(port) is in use by \(holder?.description ?? "another program"); choose another, or end that "
                + "program"
        case .portReserved(let port):
            "UDP port \(port) is reserved for root; choose one from 1024 to 65535 with -p"
        case .addressNotLocal(let address):
            "\(address) is not an address of this machine; use one that `ip address` shows, or leave it out for all of them"
        case .interfaceMissing(let address):
            "\(address) is a link-local address, which needs its interface; write it as \(address)%eth0"
        case .noIPv6:
            "this machine has no IPv6; use an IPv4 address"
        case .noSuchInterface(let name, let present):
            "there is no network interface \(name); this machine has \(present.joined(separator: ", "))"
        case .groupNotReachable(let group):
            "the multicast group \(group) cannot be joined, because no route or interface leads to it; name an interface that does multicast"
        case .notAGroup(let address):
            "\(address) is not a multicast group; those are 224.0.0.0 to 239.255.255.255 and the IPv6 addresses that begin with ff"
        case .unknownHost(let name):
            "no host is called \(name); check the spelling, or give its IP address"
        case .lookupFailed(let name):
            "the name \(name) could not be looked up; check the network and its name server, or give the IP address"
        case .alwaysReady(let fileDescriptor):
            "file descriptor \(fileDescriptor) is a file or device that is always ready; read it directly, or connect a terminal or a pipe"
        case .tooManyOpenFiles:
            "too many files are open; raise the limit with `ulimit -n`, or end other programs"
        case .refused:
            "the system refused a network request"
        }
    }
}

extension NetworkError {
    package init(_ error: ThreadError) { self.init(.refused, function: "pthread_create", code: error.code) }

    /// For a code of libuv, which is a negated `errno`.
    init(_ function: String, _ code: Int32) {
        let tooMany = code == -EMFILE || code == -ENFILE
        self.init(tooMany ? .tooManyOpenFiles : .refused, function: function, code: -code)
    }

    /// Throws what libuv returned if it is negative.
    static func check(_ function: String, _ code: Int32) throws(NetworkError) {
        if code < 0 { throw NetworkError(function, code) }
    }
}
