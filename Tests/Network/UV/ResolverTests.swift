import Glibc
import TenfourAudioCore
import TenfourSession
import Testing

@testable import TenfourUV

private let indexOfLoopback = unsafe if_nametoindex("lo")

struct ResolverTests {
    @Test(arguments: [
        ("127.0.0.1", IPAddress.loopbackV4), ("::1", .loopbackV6), ("::ffff:192.0.2.1", .v4(0xC000_0201)),
        ("2001:db8::7", .v6(high: 0x2001_0DB8_0000_0000, low: 7, scope: 0)),
        ("fe80::1%lo", .v6(high: 0xFE80_0000_0000_0000, low: 1, scope: indexOfLoopback)),
        ("239.0.1.10", .v4(0xEF00_010A)),
    ])
    func anAddressStandsForItself(_ text: String, _ address: IPAddress) throws {
        #expect(try Resolver.resolve(text, port: 5004) == [Endpoint(address, port: 5004)])
    }

    @Test func localhostIsThisMachineAndItsAddressesComeOnce() throws {
        let found = try Resolver.resolve("localhost", port: 9)
        #expect(!found.isEmpty && Set(found).count == found.count)
        #expect(found.allSatisfy { [.loopbackV4, .loopbackV6].contains($0.address) && $0.port == 9 })
    }

    @Test func aLookupAnswersFromTheLoopAndNotBefore() throws {
        let loop = try EventLoop()
        var answers: [Result<[Endpoint], NetworkError>] = []
        try Resolver.resolve("127.0.0.1", port: 5004, on: loop) { answers.append($0) }
        #expect(answers.isEmpty)
        loop.run()
        #expect(answers == [.success([Endpoint(.loopbackV4, port: 5004)])])
    }

    @Test(arguments: ["", "fe80::1%eth99", "two\0names", "1.2.3.4.5.6:7", String(repeating: "a", count: 300)])
    func aNameThatCannotBeIsAnUnknownHost(_ name: String) throws {
        let error = #expect(throws: NetworkError.self) { try Resolver.resolve(name, port: 1) }
        #expect(error?.reason == .unknownHost(name))
    }

    @Test(.enabled(if: machineHasIPv6, "this machine has no IPv6"))
    func aLinkLocalAddressNeedsItsInterface() throws {
        let error = #expect(throws: NetworkError.self) { try Resolver.resolve("fe80::1", port: 1) }
        #expect(error?.reason == .interfaceMissing(.v6(high: 0xFE80_0000_0000_0000, low: 1, scope: 0)))
        let sentence = error?.description ?? ""
        #expect(sentence.hasPrefix("fe80::1 is a link-local address, which needs its interface; write it as fe80::1%"))
    }

    @Test func anUnknownHostIsToldFromTheLoopToo() throws {
        let loop = try EventLoop()
        var answers: [Result<[Endpoint], NetworkError>] = []
        try Resolver.resolve("fe80::1%eth99", port: 1, on: loop) { answers.append($0) }
        loop.run()
        #expect(answers.count == 1)
        #expect(throws: NetworkError.self) { try answers.first?.get() }
    }

    @Test func aLookupThatIsCancelledDoesNotAnswer() throws {
        let loop = try EventLoop()
        let lookup = try Resolver.resolve("127.0.0.1", port: 1, on: loop) { _ in
            Issue.record("a cancelled lookup answered")
        }
        lookup.cancel()
        lookup.cancel()
        loop.run()
    }

    /// -3001 is UV_EAI_AGAIN.
    @Test func aNameServerThatIsSilentIsNotAnUnknownHost() {
        let error = NetworkError(lookingUp: "bob.local", -3001)
        #expect(error.reason == .lookupFailed("bob.local"))
    }
}
