import ArgumentParser
import Glibc
import TenfourChannelKeys
import TenfourFloor
import TenfourPackets
import TenfourSession

/// Floods the channel with floor control: many members take part, and some of them request the floor and release it without end.
struct LoadFloor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "floor",
        abstract:
            "Join the channel with floor control, print \"joined\", wait for a line, flood it, and print \"sent\".")

    @OptionGroup var places: Places
    @Option(help: "Number of members that ask who has the floor.")
    var participants = 740
    @Option(help: "Number of further members, which send 30 messages a second each.")
    var attackers = 40
    @Option(help: "Seconds to send.")
    var seconds = 10

    func run() throws {
        let keys = Channels.keys(places.streams)
        guard let key = keys.talkJoin else { throw Member.Refused() }
        var members: [(socket: BoundSocket, member: Member)] = []
        for number in 0..<participants + attackers {
            let socket = try BoundSocket(0x7F04_0000 + UInt32(number), port: 0, to: places.port)
            var member = try Member(key, relay: Channels.relayID(places.port), over: socket)
            member.send(.queuePositionRequest(number: 0, SSRC(0)), over: socket)
            members.append((socket, member))
        }
        say("joined")
        _ = readLine()
        let start = time(CLOCK_MONOTONIC)
        for millisecond in 0..<seconds * 1_000 {
            for number in 0..<attackers where (millisecond + number) % 33 == 0 {
                let (turn, ssrc) = ((millisecond + number) / 33, SSRC(UInt32(1_000 + number)))
                let request = UInt32(turn / 2 + 1)
                members[number].member.send(
                    turn % 2 == 0
                        ? .request(number: request, ssrc, .normal, waits: false, sends: false)
                        : .release(number: request, ssrc), over: members[number].socket)
            }
            sleep(until: start + Int64(millisecond + 1) * 1_000_000)
        }
        say("sent")
    }
}
