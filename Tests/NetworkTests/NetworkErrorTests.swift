import Engine
import Glibc
import Sound
import Testing

@testable import Network

struct NetworkErrorTests {
    let loop: EventLoop

    init() throws { loop = try EventLoop() }

    @Test func aPortThatIsTakenSaysWhatToDo() throws {
        let first = try UDPSocket(on: loop, bindingTo: Endpoint(.quietLoopback, port: 0))
        let port = first.localEndpoint.port
        let error = #expect(throws: NetworkError.self) {
            try UDPSocket(on: loop, bindingTo: first.localEndpoint)
        }
        #expect(error?.reason == .portInUse(port))
        #expect(
            error?.description
                == "UDP port \(port) is in use by another program; choose another, or end that program "
                + "(uv_udp_bind: address already in use)")
        // The socket that could not be bound is gone, and the port can be had when it is free.
        first.close()
        _ = try UDPSocket(on: loop, bindingTo: first.localEndpoint)
    }

    @Test func anAddressOfAnotherMachineIsRefused() throws {
        let elsewhere = IPAddress.v4(0xC633_6401)
        let error = #expect(throws: NetworkError.self) {
            try UDPSocket(on: loop, bindingTo: Endpoint(elsewhere, port: 0))
        }
        #expect(error?.reason == .addressNotLocal(elsewhere))
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func aLinkLocalAddressNeedsItsInterface() throws {
        let address = IPAddress.v6(high: 0xFE80_0000_0000_0000, low: 1, scope: 0)
        let error = #expect(throws: NetworkError.self) {
            try UDPSocket(on: loop, bindingTo: Endpoint(address, port: 0))
        }
        #expect(error?.reason == .interfaceMissing(address))
    }

    @Test func aReservedPortNamesTheOnesThatAreNot() {
        let error = NetworkError(bindingTo: Endpoint(.anyV4, port: 80), -EACCES)
        #expect(error.reason == .portReserved(80))
        #expect(error.description.contains("choose one from 1024 to 65535"))
    }

    @Test func theLimitOfOpenFilesIsNamed() {
        #expect(NetworkError("uv_loop_init", -EMFILE).description.contains("ulimit -n"))
    }

    @Test func anyOtherRefusalNamesItsFunctionAndReason() {
        let error = NetworkError("uv_poll_init", -EBADF)
        #expect(error.description == "the system refused a network request (uv_poll_init: bad file descriptor)")
    }

    @Test func aFailureToSendNamesItsDestination() {
        let failure = SocketStatistics.Failure(destination: Endpoint(.loopbackV4, port: 9), code: ECONNREFUSED)
        #expect(failure.description == "127.0.0.1:9: connection refused")
        #expect(SocketStatistics.Failure(destination: nil, code: ENOMEM).description == "not enough memory")
    }
}
