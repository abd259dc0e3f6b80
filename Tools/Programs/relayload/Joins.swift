import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import TenfourSession

/// Measures the time that a relay spends on the join of a member, without system calls.
struct Joins: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure a relay's processor time for JOIN, and for JOIN2, which demands the relay's static key.")

    @Option(help: "Joins of each kind.")
    var members = 2_000

    func run() {
        say("{\"join\": \(cost(demandsRelayKey: false)), \"join2\": \(cost(demandsRelayKey: true))}")
    }

    /// Returns the processor time for one JOIN that is answered with WELCOME, in nanoseconds. The members are at addresses
    /// of their own, and join 1 ms after each other.
    private func cost(demandsRelayKey: Bool) -> Double {
        var configuration = RelayConfiguration()
        let keys = Channels.keys(0)
        guard let talk = keys.talkJoin else { return 0 }
        var randomness = CSPRNG()
        let key = RelayKey(using: &randomness)
        configuration.channels = [.init(name: keys.name, talkJoin: talk, listenJoin: keys.listenJoin)]
        configuration.key = key
        let expected = ExpectedRelay(RelayFingerprint(relay: key.publicKey, ownerless: keys), of: keys)
        var relay = Relay(
            configuration, address: PeerAddress(Endpoint(.loopbackV4, port: 5_004)), at: .start,
            clock: WallClock(milliseconds: 0), using: &randomness)
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1_600)
        defer { unsafe memory.deallocate() }
        var (spent, joined): (Int64, Int) = (0, 0)
        for number in 0..<members {
            let sender = Endpoint(.v4(0x0A00_0000 + UInt32(number)), port: 40_000)
            let now = Instant.start + .milliseconds(number)
            var joining = JoinAttempt(
                keys.listenJoin, relay: Channels.relayID(5_004), expecting: demandsRelayKey ? expected : nil,
                using: &randomness)
            for _ in 0..<2 {
                let question = [UInt8](capacity: JoinAttempt.maximumByteCount) { joining.write(into: &$0) }
                let start = time(CLOCK_PROCESS_CPUTIME_ID)
                _ = relay.receive(question.span, from: sender, at: now)
                // Only the second question, the JOIN, is measured.
                if joining.hasCookie { spent += Int64(time(CLOCK_PROCESS_CPUTIME_ID) - start) }
                while true {
                    var output = unsafe OutputSpan(buffer: memory, initializedCount: 0)
                    guard relay.nextDatagram(into: &output) != nil else { break }
                    if case .welcome = joining.receive(output.span) { joined += 1 }
                }
            }
        }
        return joined == members ? Double(spent) / Double(members) : .infinity
    }
}
