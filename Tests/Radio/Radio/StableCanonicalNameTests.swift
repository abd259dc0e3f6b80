import TenfourAudioCore
import TenfourPackets
import TenfourSession
import Testing

@testable import TenfourRadio

struct StableCanonicalNameTests {
    private let machine: [UInt8] = Array("0123456789abcdef0123456789abcdef of a test".utf8)

    @Test func theNameIsTheSameAfterARestartAndHeldByOneSession() throws {
        var name = StableCanonicalName(["1000", "[::]:5004", "192.0.2.1:5004"], on: machine)
        let text = try #require(name?.text)
        #expect(text.count == 32 && text.allSatisfy { $0.isHexDigit })
        #expect(Identity.random(named: name, at: .start).canonicalName == text)
        #expect(StableCanonicalName(["1000", "[::]:5004", "192.0.2.1:5004"], on: machine) == nil)
        name = nil
        #expect(StableCanonicalName(["1000", "[::]:5004", "192.0.2.1:5004"], on: machine)?.text == text)
    }

    @Test func otherPartnersGetAnotherName() {
        let names = [["1000", ":5004", "192.0.2.1:5004"], ["1000", ":5004", "192.0.2.2:5004"], ["0", ":5004"]]
        #expect(Set(names.compactMap { StableCanonicalName($0, on: machine)?.text }).count == 3)
        #expect(StableCanonicalName(names[0], on: Array(machine.dropFirst()))?.text != nil)
    }
}
