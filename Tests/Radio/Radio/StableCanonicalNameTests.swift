import Glibc
import TenfourAudioCore
import TenfourPackets
import TenfourSession
import Testing

@testable import TenfourRadio

struct StableCanonicalNameTests {
    /// Another one in each process, because abstract sockets are those of the whole machine.
    private let machine: [UInt8] = Array("0123456789abcdef0123456789abcdef of test \(getpid())".utf8)

    @Test func theNameIsTheSameAfterARestartAndHeldByOneSession() throws {
        var name = StableCanonicalName(["1000", "[::]:5004", "192.0.2.1:5004"], on: machine)
        let text = try #require(name?.text)
        #expect(text.count == 32 && text.allSatisfy { $0.isHexDigit })
        #expect(Identity.random(named: name, at: .start).canonicalName == text)
        #expect(StableCanonicalName(["1000", "[::]:5004", "192.0.2.1:5004"], on: machine) == nil)
        name = nil
        #expect(StableCanonicalName(["1000", "[::]:5004", "192.0.2.1:5004"], on: machine)?.text == text)
    }

    @Test func otherPartnersGetAnotherName() throws {
        let names = [["1000", ":5004", "192.0.2.1:5004"], ["1000", ":5004", "192.0.2.2:5004"], ["0", ":5004"]]
        #expect(Set(names.compactMap { StableCanonicalName($0, on: machine)?.text }).count == 3)
        let other = try #require(StableCanonicalName(names[0], on: Array(machine.dropFirst()))?.text)
        #expect(other != StableCanonicalName(names[0], on: machine)?.text)
    }

    @Test func sessionsWhoseCallersAreUnknownHaveNoStableName() throws {
        var configuration = RadioConfiguration(
            local: Endpoint(.anyV4, port: 5004), rtpSession: RTPSessionConfiguration())
        #expect(StableCanonicalName(configuration) == nil)
        configuration.rtpSession.remotes = [Endpoint(.v4(0xC000_0201), port: UInt16(truncatingIfNeeded: getpid()) | 1)]
        #expect((StableCanonicalName(configuration) == nil) == (access("/etc/machine-id", R_OK) != 0))
    }
}
