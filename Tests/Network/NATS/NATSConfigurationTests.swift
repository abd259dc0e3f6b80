import TenfourNATS
import Testing

@Suite struct NATSConfigurationTests {
    @Test func aFileThatCannotBeReadIsNamed() {
        var configuration = NATSConfiguration(servers: ["tls://127.0.0.1:4222"])
        configuration.authorities = "/nowhere/ca.pem"
        do throws(NATSError) {
            try configuration.check()
            Issue.record("the file was accepted")
        } catch {
            #expect(error.description.hasPrefix("libnats cannot use /nowhere/ca.pem: "), "\(error)")
        }
    }
}
