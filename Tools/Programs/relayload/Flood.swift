import ArgumentParser
import Glibc
import TenfourSession
import TenfourUV

/// Sends random datagrams as a stranger.
struct Flood: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Send random bytes with an RTP header to a relay.")

    @OptionGroup var places: Places
    @Option(help: "Packets a second.")
    var rate = 200_000
    @Option(help: "Seconds to send.")
    var seconds = 30

    func run() throws {
        let loop = try EventLoop()
        var options = SocketOptions()
        options.sendBufferSize = 4 << 20
        let socket = try UDPSocket(on: loop, bindingTo: Endpoint(.v4(0x7F03_0001), port: 0), options: options)
        let fanOut = FanOut(sharing: try Backlog(of: socket, on: loop))
        let burst = max(rate / 1_000, 1)
        for copy in 0..<burst { fanOut.add(copy, at: Endpoint(.loopbackV4, port: places.port)) }
        var junk = [UInt8](repeating: 7, count: 200)
        junk[0] = 0x80
        let start = time(CLOCK_MONOTONIC)
        for millisecond in 0..<Int64(seconds) * 1_000 {
            sleep(until: start + millisecond * 1_000_000)
            fanOut.send(junk.span)
        }
        say("{\"sent\": \(fanOut.statistics.sent), \"seconds\": \(Double(time(CLOCK_MONOTONIC) - start) / 1e9)}")
    }
}
