import Glibc
import TenfourSession
import Testing

@testable import TenfourUV

private let scoped = IPAddress.v6(high: 0xFE80_0000_0000_0000, low: 0x0102_0304_0506_0708, scope: 3)

@Test(arguments: [IPAddress.v4(0xC000_0201), .loopbackV4, .loopbackV6, .anyV6, scoped])
func anEndpointSurvivesItsWayThroughTheKernelsForm(_ address: IPAddress) {
    let endpoint = Endpoint(address, port: 0x1234)
    let throughIPv6 = unsafe SocketAddress(endpoint, family: AF_INET6).withPointer { unsafe Endpoint($0) }
    #expect(throughIPv6 == endpoint)
    let throughItsOwn = unsafe SocketAddress(endpoint, family: address.family).withPointer { unsafe Endpoint($0) }
    #expect(throughItsOwn == endpoint)
}

@Test func theBytesAreInNetworkOrder() {
    let v4 = SocketAddress(Endpoint(.v4(0x0102_0304), port: 0x0506), family: AF_INET)
    unsafe v4.withPointer { pointer in
        let bytes = unsafe UnsafeRawBufferPointer(start: pointer, count: 8)
        #expect(unsafe Array(bytes[2...]) == [5, 6, 1, 2, 3, 4])
    }
    let mapped = SocketAddress(Endpoint(.v4(0x0102_0304), port: 0x0506), family: AF_INET6)
    unsafe mapped.withPointer { pointer in
        let bytes = unsafe UnsafeRawBufferPointer(start: pointer, count: 24)
        #expect(unsafe Array(bytes[2..<4]) == [5, 6])
        #expect(unsafe Array(bytes[8...]) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 1, 2, 3, 4])
    }
}

@Test func anAddressOfAnotherFamilyIsNoEndpoint() {
    let bytes = [sa_family_t](repeating: sa_family_t(AF_UNIX), count: 14)
    unsafe bytes.withUnsafeBytes { bytes in
        guard let start = bytes.baseAddress else { return }
        #expect(unsafe Endpoint(start.assumingMemoryBound(to: sockaddr.self)) == nil)
    }
}

@Test func anAddressIsReachedFromThatOfItsInterface() {
    #expect(IPAddress("127.0.0.7")?.localSource == .loopbackV4)
}
