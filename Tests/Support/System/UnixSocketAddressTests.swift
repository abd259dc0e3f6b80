import Glibc
import TestSupport
import Testing

@testable import TenfourSystem

struct UnixSocketAddressTests {
    private let folder = Folder()

    private func bound(to address: UnixSocketAddress) throws -> Int32 {
        let descriptor = try UnixSocketAddress.stream(isBlocking: true)
        let code = unsafe address.withSocketAddress { unsafe bind(descriptor, $0, $1) }
        try #require(code == 0)
        return descriptor
    }

    @Test func aPathHasAtMost107Bytes() {
        #expect(UnixSocketAddress.maximumPathByteCount == 107)
        #expect(UnixSocketAddress(path: String(repeating: "x", count: 107)) != nil)
        #expect(UnixSocketAddress(path: String(repeating: "x", count: 106) + "é") == nil)
        #expect(UnixSocketAddress(abstract: String(repeating: "x", count: 107)) != nil)
        #expect(UnixSocketAddress(abstract: String(repeating: "x", count: 108)) == nil)
    }

    @Test func aClientReachesTheListener() throws {
        let addresses = [
            UnixSocketAddress(path: folder("socket")), UnixSocketAddress(abstract: "tenfour test \(folder.path)"),
        ]
        for address in addresses {
            let address = try #require(address)
            let listener = try bound(to: address)
            defer { close(listener) }
            #expect(throws: UnixSocketError(call: .connect, code: ECONNREFUSED)) {
                try address.connect(isBlocking: true)
            }
            #expect(listen(listener, 4) == 0)
            let client = try address.connect(isBlocking: false)
            defer { close(client) }
            #expect(fcntl(client, F_GETFD) & FD_CLOEXEC != 0 && fcntl(client, F_GETFL) & O_NONBLOCK != 0)
            let blocking = try address.connect(isBlocking: true)
            defer { close(blocking) }
            #expect(fcntl(blocking, F_GETFL) & O_NONBLOCK == 0)
        }
    }

    @Test func onlyTheSocketOfAnEndedProcessIsRemoved() throws {
        let path = folder("socket")
        let address = try #require(UnixSocketAddress(path: path))
        try address.removeLeftover()
        let listener = try bound(to: address)
        #expect(listen(listener, 4) == 0)
        #expect(throws: UnixSocketError(call: .bind, code: EADDRINUSE)) { try address.removeLeftover() }
        close(listener)
        #expect(unsafe access(path, F_OK) == 0)
        try address.removeLeftover()
        #expect(unsafe access(path, F_OK) != 0)
        folder.write("a file", to: "socket")
        try address.removeLeftover()
        #expect(Folder.text(of: path) == "a file")
    }
}
