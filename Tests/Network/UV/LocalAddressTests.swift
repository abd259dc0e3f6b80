import TenfourSession
import TenfourUV
import TestSupport
import Testing

struct LocalAddressTests {
    private let elsewhere = IPAddress.v4(0xC633_6401)

    @Test func theLoopbackAddressIsOfThisMachine() {
        #expect(IPAddress.loopbackV4.isLocal && IPAddress.loopbackV4.hasRoute)
        #expect(!elsewhere.isLocal)
    }

    /// Binding to such an address fails, but not because it is elsewhere.
    @Test func aLinkLocalAddressWithoutItsInterfaceIsNotOfThisMachine() {
        #expect(!IPAddress.v6(high: 0xFE80_0000_0000_0000, low: 1, scope: 0).isLocal)
    }

    @Test(.enabled(if: NetworkNamespace.isPossible, "network namespaces need root and ip(8)"))
    func withoutANetworkThereIsNoRoute() throws {
        let elsewhere = elsewhere
        try NetworkNamespace.run {
            #expect(!elsewhere.hasRoute && IPAddress.loopbackV4.hasRoute && !elsewhere.isLocal)
            #expect(!IPAddress.v6(high: 0x2001_0DB8_0000_0000, low: 7, scope: 0).hasRoute)
        }
    }
}
