import Foundation
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourOpusCodec
import TenfourPackets
import TenfourSession
import TenfourSystem

@testable import TenfourRadio

/// A talker without a thread: it encodes audio into packets.
final class SimulatedTalker {
    let ssrc: SSRC
    let format: LPCMFormat
    let frameCount: FrameCount
    var isOpen = true
    var talker: EncoderPipeline
    private let ring = RingBuffer<OutgoingPacket>(capacity: 1_024, filler: OutgoingPacket())
    private var sequence: UInt16 = 65_530

    init(
        ssrc: UInt32 = 1, format: LPCMFormat = .mono, coding: CodingSettings = CodingSettings()
    ) throws(RadioError) {
        self.ssrc = SSRC(ssrc)
        self.format = format
        frameCount = FrameCount(coding.frame)
        var coding = coding
        coding.channelCount = format.channelCount
        talker = try EncoderPipeline(format: format, coding: coding)
    }

    /// Encodes `sound`, which is captured in pieces of 20 ms. Returns the packets.
    func say(_ sound: [Float]) -> [OutgoingPacket] {
        let step = format.rate.hertz / 50 * format.channelCount
        for start in stride(from: 0, to: sound.count, by: step) {
            let piece = sound[start..<min(start + step, sound.count)]
            var captured = FixedBuffer<Float>(repeating: 0, count: step)
            for (index, sample) in piece.enumerated() { captured[index] = sample }
            _ = talker.take(
                captured, frameCount: FrameCount(piece.count / format.channelCount), isOpen: isOpen, into: ring.producer
            )
        }
        return packets()
    }

    func skip(_ missed: Int) -> [OutgoingPacket] {
        _ = talker.skip(FrameCount(missed), into: ring.producer)
        return packets()
    }

    func finish() -> [OutgoingPacket] {
        _ = talker.finish(into: ring.producer)
        return packets()
    }

    /// Returns the packet as the receiver gets it.
    func sent(_ packet: OutgoingPacket, arrivingAt arrival: Instant) -> IncomingPacket {
        sequence &+= 1
        return IncomingPacket(
            ssrc: ssrc, sequenceNumber: SequenceNumber(rawValue: sequence),
            timestamp: RTPTimestamp(rawValue: 0xFFFF_0000).advanced(by: packet.position), frameCount: frameCount,
            packet.packet, arrivedAt: arrival)
    }

    private func packets() -> [OutgoingPacket] {
        var packets: [OutgoingPacket] = []
        var packet = OutgoingPacket()
        while ring.consumer.pop(into: &packet) { packets.append(packet) }
        return packets
    }
}

extension IncomingPacket {
    init(
        ssrc: SSRC, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, frameCount: FrameCount, _ slot: PacketSlot,
        arrivedAt arrival: Instant
    ) {
        self.init()
        self.ssrc = ssrc
        info = PacketInfo(
            sequenceNumber: sequenceNumber, timestamp: timestamp, frameCount: frameCount,
            carriesFEC: OpusDecoder.hasInBandFEC(slot.payload))
        self.arrival = arrival
        packet = slot
    }
}

/// Talkers and one listener on a clock that only the test moves. The listener's card pulls 5 ms at a time.
final class SimulatedRoom {
    var talkers: [SimulatedTalker] = []
    /// The audio that each talker has yet to send; 20 ms are taken at a time.
    var sounds: [SSRC: [Float]] = [:]
    /// Returns the time from a packet's last frame to its arrival, by packet number; nil if the packet is lost.
    var delay: (Int) -> Duration? = { _ in .milliseconds(1) }
    var pipeline: PlayoutPipeline
    /// All audio played so far.
    private(set) var heard: [Float] = []
    private(set) var now = Instant.start + .seconds(1)
    /// The drift of the card's clock, in parts per million; positive values run fast.
    var drift = 0.0

    let format: LPCMFormat
    private let period: Int
    private let ring = RingBuffer<IncomingPacket>(capacity: 1_024, filler: IncomingPacket())
    private var flying: [IncomingPacket] = []
    private var spoken = 0
    private var pulled = 0
    private var packetCounts: [SSRC: Int] = [:]
    private var offset = Duration.zero
    private let start: Instant

    init(format: LPCMFormat = .mono, settings: PlayoutSettings = PlayoutSettings()) throws(RadioError) {
        self.format = format
        period = format.rate.hertz / 200
        var settings = settings
        settings.channelCount = format.channelCount
        pipeline = try PlayoutPipeline(
            format: format,
            configuration: settings.jitterBuffer(
                period: FrameCount(period), format.rate, LossProtectionConfiguration()),
            longestPull: FrameCount(period))
        start = now
    }

    /// Advances the clock. Talkers whose audio has been used up send nothing.
    func run(seconds: Double) {
        let end = pulled + Int((seconds * Double(format.rate.hertz)).rounded())
        while pulled < end {
            now = start + offset + .seconds(Double(pulled) / Double(format.rate.hertz) / (1 + drift * 1e-6))
            talk()
            pull()
        }
    }

    /// Lets the card start for this time: it pulls nothing yet, and the talkers send.
    func wait(seconds: Double) {
        for _ in 0..<Int(seconds * 200) {
            offset += .milliseconds(5)
            now = start + offset
            talk()
            deliver()
            pipeline.dropOldest(of: ring.consumer)
        }
    }

    /// Stalls the card: it pulls nothing for this duration.
    func stall(_ duration: Duration) { offset += duration }

    func leave(_ ssrc: SSRC) { _ = ring.producer.push { $0.set(.goodbye, of: ssrc) } }

    func arrive(_ packet: IncomingPacket) { flying.append(packet) }

    /// Returns the audio played between two times, in seconds from the beginning.
    func heard(from seconds: Double, to end: Double = .infinity) -> [Float] {
        let frame = Double(format.rate.hertz * format.channelCount)
        let last = min(Int(min(end, 1e6) * frame), heard.count)
        return Array(heard[min(Int(seconds * frame), last)..<last])
    }

    /// Returns the listener's report about one talker; nil if there is none.
    func report(of ssrc: UInt32) -> TalkerReport? {
        for index in 0..<Mixer.streamCount {
            let talker = pipeline.report.mixer.talkers[index]
            if talker.isUsed && talker.ssrc == SSRC(ssrc) { return talker }
        }
        return nil
    }

    /// Lets each talker capture 20 ms for every 20 ms that have passed.
    private func talk() {
        while start + .milliseconds(20 * (spoken + 1)) <= now {
            spoken += 1
            let moment = start + .milliseconds(20 * spoken)
            for talker in talkers { say(with: talker, at: moment) }
        }
    }

    private func say(with talker: SimulatedTalker, at moment: Instant) {
        let step = talker.format.rate.hertz / 50 * talker.format.channelCount
        guard let sound = sounds[talker.ssrc], !sound.isEmpty else { return }
        sounds[talker.ssrc] = Array(sound.dropFirst(step))
        for packet in talker.say(Array(sound.prefix(step))) {
            let number = packetCounts[talker.ssrc, default: 0]
            packetCounts[talker.ssrc] = number + 1
            let sent = talker.sent(packet, arrivingAt: moment)
            guard let delay = delay(number) else { continue }
            var arriving = sent
            arriving.arrival = moment + delay
            flying.append(arriving)
        }
    }

    private func deliver() {
        for packet in flying where packet.arrival <= now { _ = ring.producer.push(packet) }
        flying.removeAll { $0.arrival <= now }
    }

    private func pull() {
        deliver()
        var sound = [Float](repeating: 9, count: period * format.channelCount)
        var room = sound.mutableSpan
        pipeline.pull(into: &room, at: now, from: ring.consumer)
        heard += sound
        pulled += period
    }
}

extension PlayoutPipeline {
    /// The pipeline's current report.
    var report: PlaybackReport {
        mutating get {
            var report = PlaybackReport()
            write(to: &report)
            return report
        }
    }
}
