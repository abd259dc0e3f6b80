import Glibc
import TestSupport
import Testing

/// Two hosts, Alice's 10.9.1.1 and Bob's 10.9.2.1, and the namespace of the calling thread as their router with a firewall.
/// Their namespaces end with this value.
struct RoutedHosts {
    let alice, bob: NetworkHost

    init(in folder: Folder) throws {
        try NetworkNamespace.set(up: ["sysctl -qw net.ipv4.ip_forward=1"])
        (alice, bob) = (try NetworkHost("10.9.1", in: folder), try NetworkHost("10.9.2", in: folder))
        try Self.firewall("add table ip filter")
        try Self.firewall("add chain ip filter forward { type filter hook forward priority 0 ; }")
    }

    /// Runs a command of nft(8) in the router.
    static func firewall(_ command: String) throws { try NetworkNamespace.set(up: ["nft \(command)"]) }

    /// Ends the programs, which must end without a failure.
    static func end(_ programs: [Program], _ location: SourceLocation = #_sourceLocation) {
        for program in programs {
            program.send(SIGINT)
            #expect(program.wait() == .code(0), "\(program.errors)", sourceLocation: location)
        }
    }
}

extension Folder {
    /// Writes five minutes of a tone to `tone.wav`.
    func writeTone() throws {
        let tone = ["-n", "-r", "48000", "-c", "1", "tone.wav", "synth", "300", "sine", "440", "vol", "0.3"]
        #expect(try Program.run("sox", tone, in: self).end == .code(0))
    }
}
