import OpusCodec
import Playout
import RTP
import Radio
import Sound

/// tenfour's own receiver, pulled in steps of 2.5 ms by a clock that is never late.
enum Simulation {
    private static let period = 120

    static func receive(
        _ speech: EncodedSpeech, _ arrivals: Arrivals, fixedDepth: Double?, into heard: inout [Float]
    ) throws -> Result {
        let configuration = PlayoutConfiguration(
            depth: fixedDepth.map { .fixed(FrameCount(Int($0 * 48))) } ?? .adaptive, margin: FrameCount(period))
        var voice = try Voice(format: .mono, configuration: configuration)
        voice.begin(SSRC(1))
        let order = arrivals.times.indices.filter { arrivals.times[$0] != nil }
            .sorted { (arrivals.times[$0]!.rawValue, $0) < (arrivals.times[$1]!.rawValue, $1) }
        var next = order.startIndex
        var result = Result()
        var sound = [Float](repeating: 0, count: period)
        let end = speech.packets.count * 960 + 48_000
        var position = 0
        var decoded = FrameCount.zero
        while position < end {
            while next < order.endIndex, arrivals.times[order[next]]!.rawValue <= position {
                insert(order[next], of: speech, at: arrivals.times[order[next]]!, into: &voice)
                next += 1
            }
            var room = sound.mutableSpan
            if !voice.pull(into: &room, at: FrameCount(position)) { for index in sound.indices { sound[index] = 0 } }
            heard += sound
            position += period
            let statistics = voice.lane.statistics
            // The lane's own depth counts from the fastest packet; the laboratory knows when each was sent.
            if statistics.decoded > decoded { result.delays.append(Double(voice.lane.depth.rawValue) / 48) }
            decoded = statistics.decoded
        }
        let statistics = voice.lane.statistics
        let total = Double((statistics.decoded + statistics.concealed + statistics.recovered).rawValue)
        result.concealedShare = Double(statistics.concealed.rawValue) / total
        result.stretchedShare = Double(statistics.stretched.rawValue) / total
        result.late = statistics.late
        result.resyncs = statistics.resyncs
        return result
    }

    private static func insert(_ index: Int, of speech: EncodedSpeech, at arrival: FrameCount, into voice: inout Voice) {
        var packet = IncomingPacket()
        packet.ssrc = SSRC(1)
        packet.sequenceNumber = SequenceNumber(rawValue: UInt16(truncatingIfNeeded: index))
        packet.timestamp = RTPTimestamp(rawValue: UInt32(truncatingIfNeeded: index * 960))
        packet.frameCount = FrameCount(960)
        let payload = speech.packets[index]
        packet.carriesFEC = OpusDecoder.hasInBandFEC(payload.span)
        packet.packet.fill(payload.span)
        voice.insert(packet, arrivedAt: arrival)
    }
}

/// The yardstick for jitter: the .997 quantile of the last ten seconds of packet delays as the depth, a tempo of ± 10 %,
/// waiting on an empty buffer. It plays nothing; frames of 20 ms are its only unit.
enum PlainQuantile {
    static func receive(_ arrivals: Arrivals) -> Result {
        let frame = 960.0
        var result = Result()
        var window: [(at: Double, delay: Double)] = []
        var pending = arrivals.times.enumerated().compactMap { index, time in
            time.map { (at: Double($0.rawValue), delay: Double($0.rawValue) - Double(index) * frame, index: index) }
        }
        pending.sort { ($0.at, $0.index) < ($1.at, $1.index) }
        var next = 0
        var received = Set<Int>()
        var clock = pending.first?.at ?? 0
        var concealed = 0.0
        var index = 0
        while index < arrivals.times.count {
            while next < pending.count, pending[next].at <= clock {
                window.append((pending[next].at, pending[next].delay))
                received.insert(pending[next].index)
                next += 1
            }
            window.removeAll { $0.at < clock - 480_000 }
            if received.contains(index) {
                let delay = clock - Double(index) * frame
                result.delays.append(delay / 48)
                let sorted = window.map(\.delay).sorted()
                let target = sorted[min(sorted.count - 1, Int((Double(sorted.count) * 0.997).rounded(.up)) - 1)]
                let change = min(max(target - delay, -frame / 10), frame / 10)
                clock += frame + change
                index += 1
            } else if received.contains(where: { $0 > index }) {
                concealed += frame
                clock += frame
                index += 1
            } else if next < pending.count {
                let wait = min(pending[next].at - clock, 480)
                concealed += max(wait, 1)
                clock += max(wait, 1)
            } else {
                break
            }
        }
        result.concealedShare = concealed / (Double(result.delays.count) * frame + concealed)
        return result
    }
}
