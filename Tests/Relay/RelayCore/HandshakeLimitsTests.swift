import TenfourAudioCore
import TenfourChannelKeys
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRelayCore

struct HandshakeLimitsTests {
    @Test func aHostThatFailsTooOftenIsNotProvedForAWhile() {
        var generator = CSPRNG()
        var limits = HandshakeLimits(using: &generator)
        let (host, other) = (Endpoint.host(1).address, Endpoint.host(2).address)
        for _ in 0..<20 { limits.proofFailed(at: host, .start) }
        #expect(!limits.allowsProof(at: host, .start))
        #expect(limits.allowsProof(at: other, .start))
        #expect(limits.allowsProof(at: host, .start + .milliseconds(51)))
    }

    @Test func membersThatJoinDoNotCountAsStrangers() {
        var generator = CSPRNG()
        var limits = HandshakeLimits(using: &generator)
        let (host, now) = (Endpoint.host(1).address, Instant.start + .seconds(1))
        var allowed = 0
        for _ in 0..<5_000 where limits.allowsStranger(at: host, now) {
            allowed += 1
            limits.strangerJoined(at: host)
        }
        #expect(allowed == 5_000)
        allowed = 0
        for _ in 0..<5_000 where limits.allowsStranger(at: host, now) { allowed += 1 }
        #expect(allowed == 2_000)
    }

    @Test func oneNetworkHasItsOwnShareOfNACKs() {
        var generator = CSPRNG()
        var limits = NACKLimits(using: &generator)
        // Ten other networks use up the shared limit.
        for number in 0..<10 {
            _ = limits.spend(Endpoint.host(number).address, wordCount: 10_000, at: .start)
        }
        let isAllowed = limits.spend(Endpoint.host(100).address, wordCount: 400, at: .start)
        #expect(isAllowed)
        let isMoreAllowed = limits.spend(Endpoint.host(100).address, wordCount: 9_601, at: .start)
        #expect(!isMoreAllowed, "exceeds the limit of the host")
    }
}
