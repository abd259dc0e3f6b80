import ArgumentParser
import Glibc
import TenfourChannelKeys
import TenfourPackets

/// Joins members of encrypted channels. Listeners close their sockets, so that a counting program receives their
/// datagrams; talkers send.
struct LoadJoin: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "join",
        abstract:
            "Join listeners and talkers, print \"joined\", wait for a line on standard input, send, and print \"sent\"."
    )

    @OptionGroup var places: Places
    @Option(help: "Number of packets of each talker; 0 for no talkers.")
    var packets = 0
    @Option(help: "The number of listeners that joined in earlier runs; the new listeners get the following addresses.")
    var firstListener = 0

    func run() throws {
        let relay = Channels.relayID(places.port)
        var listeners: [Member] = []
        for stream in 0..<places.streams {
            let keys = Channels.keys(stream)
            for _ in 0..<places.listeners {
                // This socket is closed at once, so datagrams to its address go to the counting program's socket,
                // which is bound to all addresses.
                listeners.append(
                    try Member(
                        keys.listenJoin, relay: relay,
                        over: BoundSocket(
                            0x7F01_0000 + UInt32(firstListener + listeners.count), port: places.sinkPort,
                            to: places.port)))
            }
        }
        let talkers = try (0..<(packets > 0 ? places.streams : 0)).map { try LoadTalker($0, relay: relay, places.port) }
        for talker in talkers { talker.announce() }
        say("joined")
        _ = readLine()
        // Each talker announces its SSRC once a second, like a talker without pauses. The announcement is not sent just
        // before a packet, because it would delay the packet.
        talk(streams: talkers.count, packets: packets) {
            talkers[$0].announce()
        } send: {
            talkers[$0].send($1)
        }
        say("sent")
    }
}

private final class LoadTalker {
    private let stream: Int
    private let socket: BoundSocket
    private let root: MediaRoot
    private let epoch: Epoch
    private var member: Member

    init(_ stream: Int, relay: RelayID, _ port: UInt16) throws {
        let keys = Channels.keys(stream)
        guard let key = keys.talkJoin else { throw Member.Refused() }
        self.stream = stream
        socket = try BoundSocket(0x7F02_0000 + UInt32(stream), port: 0, to: port)
        root = keys.mediaRoot
        epoch = Epoch(at: WallClock(milliseconds: UInt64(time(CLOCK_REALTIME) / 1_000_000)), random: 1)
        member = try Member(key, relay: relay, over: socket)
    }

    /// Sends the announcement of the talker's SSRC.
    func announce() {
        let announcement = Announcement(
            suite: .aesCounterMode, ssrc: SSRC(UInt32(stream)), epoch: epoch,
            index: PacketIndex(rolloverCounter: 0, SequenceNumber(rawValue: 0)),
            at: WallClock(milliseconds: UInt64(time(CLOCK_REALTIME) / 1_000_000)), under: root)
        member.send(over: socket) { ControlPacket.write(announcement, into: &$0) }
    }

    func send(_ number: Int) {
        if number % 500 == 499 { member.renew(over: socket) }
        member.send(over: socket) { writePacket(stream, number, into: &$0) }
    }
}
