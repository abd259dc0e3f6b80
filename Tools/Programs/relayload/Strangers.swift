import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourChannelKeys
import TenfourRelayCore
import TenfourSession

/// Measures the time that a relay spends on datagrams of strangers, without system calls.
struct Strangers: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Measure a relay's processor time for packets of a stranger: media, records and first hellos.")

    @Option(help: "Packets of each kind.")
    var packets = 1_000_000

    func run() {
        var configuration = RelayConfiguration()
        let keys = Channels.keys(0)
        guard let talk = keys.talkJoin else { return }
        configuration.channels = [.init(name: keys.name, talkJoin: talk, listenJoin: keys.listenJoin)]
        var randomness = CSPRNG()
        var relay = Relay(
            configuration, address: PeerAddress(Endpoint(.loopbackV4, port: 5_004)), at: .start,
            clock: WallClock(milliseconds: 0), using: &randomness)
        let media = [0x80, 111] + [UInt8](repeating: 7, count: 118)
        let record = [UInt8(ascii: "c"), 1, 6, 0] + [UInt8](repeating: 5, count: 70)
        let hello = [UInt8(ascii: "c"), 1, 1, 0] + [UInt8](repeating: 3, count: 16) + [UInt8](repeating: 0, count: 108)
        say(
            "{\"media\": \(cost(of: media, &relay)), \"record\": \(cost(of: record, &relay)), "
                + "\"hello\": \(cost(of: hello, &relay))}")
    }

    /// Returns the processor time for one datagram, in nanoseconds. Each datagram comes from another port, 20 µs after
    /// the previous one.
    private func cost(of datagram: [UInt8], _ relay: inout Relay) -> Double {
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1_600)
        defer { unsafe memory.deallocate() }
        let start = time(CLOCK_PROCESS_CPUTIME_ID)
        for number in 0..<packets {
            let sender = Endpoint(.v4(0x0A00_0000 + UInt32(number >> 14)), port: UInt16(1_024 + number & 0x3FFF))
            _ = relay.receive(datagram.span, from: sender, at: .start + .microseconds(20 * number))
            while true {
                var output = unsafe OutputSpan(buffer: memory, initializedCount: 0)
                guard relay.nextDatagram(into: &output) != nil else { break }
            }
        }
        return Double(time(CLOCK_PROCESS_CPUTIME_ID) - start) / Double(packets)
    }
}
