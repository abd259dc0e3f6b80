internal import Engine
internal import Keys
internal import RTP
internal import Sound

extension Relay {
    mutating func report(_ range: Range<Int>, from member: Int, at now: Instant) -> Reception {
        .handled
    }
}
