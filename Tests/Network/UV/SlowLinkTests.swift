import Glibc
import TenfourAudioCore
import TenfourSession
import TestSupport
import Testing

@testable import TenfourUV

/// Five hundred listeners behind a slow interface, in a network namespace of the test's thread, which ends with the
/// thread.
@Suite(.enabled(if: SlowLink.isPossible, "needs root, and ip and tc of iproute2"))
struct SlowLinkTests {
    /// The socket's buffer fills up before the interface's queue, so sending fails with EAGAIN.
    @Test func datagramsBeyondTheSocketBufferAreSentLater() throws {
        let counts = try SlowLink.run(rate: "100mbit", limit: "20mb", sendBufferSize: 50_000)
        #expect(counts.fanOut.offered == 500 * 100)
        #expect(counts.fanOut.sent + counts.fanOut.dropped == counts.fanOut.offered && counts.fanOut.failed == 0)
        #expect(counts.arrived == counts.fanOut.sent)
        #expect(counts.fanOut.sent * 100 > counts.fanOut.offered * 99, "the link is fast enough for all")
    }

    /// The interface's queue fills up before the socket's buffer, so sending fails with ENOBUFS.
    @Test func datagramsBeyondTheQueueAreSentLater() throws {
        let counts = try SlowLink.run(rate: "100mbit", limit: "30kb", sendBufferSize: 4 << 20)
        #expect(counts.fanOut.sent + counts.fanOut.dropped == counts.fanOut.offered && counts.fanOut.failed == 0)
        #expect(counts.arrived == counts.fanOut.sent)
        #expect(counts.fanOut.sent * 10 > counts.fanOut.offered * 9, "the link is fast enough for nearly all")
    }

    @Test(arguments: [("30kb", 4 << 20), ("20mb", 50_000)])
    func packetsBeyondTheLinkAreCountedExactly(limit: String, sendBufferSize: Int) throws {
        // So slow that most packets are dropped even where the machine takes ten times as long to send them.
        let counts = try SlowLink.run(rate: "1mbit", limit: limit, sendBufferSize: sendBufferSize)
        #expect(counts.fanOut.sent + counts.fanOut.dropped == counts.fanOut.offered && counts.fanOut.failed == 0)
        #expect(counts.arrived == counts.fanOut.sent)
        #expect(counts.fanOut.dropped > counts.fanOut.offered / 2)
    }
}

private struct SlowLink {
    var fanOut: FanOutStatistics
    /// The number of packets received at the other end of the link.
    var arrived: Int

    static let isPossible =
        NetworkNamespace.isPossible && (try? Program.run("tc", ["-V"])) != nil

    /// Sends a hundred packets of 100 bytes, 20 ms apart, to 500 addresses behind a token bucket filter.
    static func run(rate: String, limit: String, sendBufferSize: Int) throws -> SlowLink {
        try NetworkNamespace.run { try onThisThread(rate, limit, sendBufferSize) }
    }

    private struct Failure: Error { var text: String }

    private static func onThisThread(_ rate: String, _ limit: String, _ sendBufferSize: Int) throws -> SlowLink {
        try NetworkNamespace.set(up: [
            "ip link add near type veth peer name far",
            "ip link set near arp off", "ip link set far arp off", "ip address add 10.9.0.1/16 dev near",
            "ip link set near up", "ip link set far up",
            "tc qdisc add dev near root tbf rate \(rate) burst 5kb limit \(limit)",
        ])

        let loop = try EventLoop()
        var options = fanOutOptions
        options.sendBufferSize = sendBufferSize
        let socket = try UDPSocket(on: loop, bindingTo: Endpoint(.v4(0x0A09_0001), port: 0), options: options)
        socket.receive { _, _, _ in }
        let backlog = try Backlog(of: socket, on: loop)
        let fanOut = FanOut(sharing: backlog)
        for member in 0..<500 { fanOut.add(member, at: Endpoint(.v4(0x0A09_0100 + UInt32(member)), port: 5_004)) }

        let before = try arrivals()
        var packets = 0
        var timer: LoopTimer?
        timer = try loop.makeTimer { [unowned loop] in
            if packets == 100 { return }
            packets += 1
            fanOut.send([UInt8](repeating: UInt8(packets), count: 100))
            timer?.arm(at: loop.now + .milliseconds(20))
        }
        timer?.arm(at: loop.now)
        try UVTests.run(loop) { packets == 100 && backlog.isEmpty }
        timer = nil
        // The interface's queue still sends its packets at the limited rate.
        var arrived = try arrivals() - before
        for _ in 0..<6_000 where arrived < fanOut.statistics.sent {
            usleep(10_000)
            arrived = try arrivals() - before
        }
        usleep(100_000)
        return SlowLink(fanOut: fanOut.statistics, arrived: try arrivals() - before)
    }

    /// Returns the number of packets that the far end has received, as counted by the kernel.
    private static func arrivals() throws -> Int {
        for line in Folder.text(of: "/proc/thread-self/net/dev").split(separator: "\n") {
            let words = line.split { $0 == " " || $0 == ":" }
            if words.first == "far", words.count > 2, let count = Int(words[2]) { return count }
        }
        throw Failure(text: "the link is gone")
    }
}
