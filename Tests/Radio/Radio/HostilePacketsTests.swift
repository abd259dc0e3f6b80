import Foundation
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import TenfourSession
import TenfourSystem
import TestSupport
import Testing

@testable import TenfourRadio

/// The whole path from a stranger's datagram to audio: session, ring buffer, jitter buffer, decoder, resampler,
/// mixer.
struct HostilePacketsTests {
    @Test(arguments: [48_000, 44_100])
    func inputsFromTheFuzzerDoNotTrap(rate: Int) throws {
        let folder = URL(filePath: Repository.path("Tests/TestSupport/Corpus/session"))
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(files.count >= 5)
        var way = try Way(rate: rate)
        for file in files.sorted(by: { $0.path < $1.path }) {
            let bytes = Array(try Data(contentsOf: file))
            var script = DatagramScript(bytes.span)
            while let step = script.next() {
                way.hear(Array(bytes[step.datagram]), from: DatagramScript.endpoint(step.sender))
                way.pull()
            }
        }
        let isFinite = way.isFinite
        #expect(isFinite)
    }

    @Test func payloadsOfNoiseTrapNoDecoder() throws {
        var randomness = SeededRandom(seed: 21)
        var way = try Way(rate: 48_000)
        var mediaCount = 0
        for number in 0..<8_000 {
            let ssrc = UInt32.random(in: 1...10, using: &randomness)
            let length = Int.random(in: 1...(number % 50 == 0 ? 1_400 : 120), using: &randomness)
            var payload = (0..<length).map { _ in UInt8.random(in: 0...255, using: &randomness) }
            // A source that changes its coding with every packet is taken for encrypted and is not decoded, so each
            // source keeps its coding for 200 packets.
            payload[0] = payload[0] & 3 | UInt8(truncatingIfNeeded: (Int(ssrc) * 7 + number / 200) << 2)
            let wild = UInt8.random(in: 0...19, using: &randomness) == 0
            let datagram = [UInt8](capacity: 12 + length) { datagram in
                RTPHeader(
                    marker: wild, payloadType: 111,
                    sequenceNumber: SequenceNumber(
                        rawValue: wild
                            ? .random(in: 0 ... .max, using: &randomness) : UInt16(truncatingIfNeeded: number)),
                    timestamp: RTPTimestamp(
                        rawValue: wild ? .random(in: 0 ... .max, using: &randomness) : UInt32(number * 240)),
                    ssrc: SSRC(ssrc)
                ).write(into: &datagram)
                for byte in payload { datagram.append(byte) }
            }
            if way.hear(datagram, from: Endpoint(.v4(ssrc), port: 5_004)) { mediaCount += 1 }
            way.pull()
        }
        #expect(mediaCount > 2_500)
        let decodedCount = way.decodedCount
        #expect(decodedCount > 50_000)
        let isFinite = way.isFinite
        #expect(isFinite)
    }
}

private struct Way: ~Copyable {
    private(set) var isFinite = true
    private var rtpSession = RTPSession(identity: Identity(ssrc: SSRC(0xFFFF_FFFF)), configuration: .init(), at: .start)
    private var pipeline: PlayoutPipeline
    private var ring = RingBuffer<IncomingPacket>(capacity: 64, filler: IncomingPacket())
    private var now = Instant.start

    /// The frames of one pull: 5 ms.
    private let period: Int

    init(rate: Int) throws {
        period = rate / 200
        let format = LPCMFormat(rate: SampleRate(hertz: rate), channelCount: 2)
        pipeline = try PlayoutPipeline(format: format, configuration: .init(), longestPull: FrameCount(period))
    }

    var decodedCount: Int {
        mutating get {
            let report = pipeline.report.mixer
            return report.talkers.indices.reduce(0) { $0 + report.talkers[$1].playout.decoded.rawValue }
        }
    }

    /// Passes a datagram to the session. Returns whether it was media.
    @discardableResult
    mutating func hear(_ datagram: [UInt8], from sender: Endpoint) -> Bool {
        let reception = rtpSession.receive(datagram.span, from: sender, at: now)
        rtpSession.timeElapsed(at: now)
        while let event = rtpSession.nextEvent() {
            if case .sourceLeft(let ssrc, _) = event { _ = ring.producer.push { $0.set(.goodbye, of: ssrc) } }
        }
        guard case .media(let packet) = reception else { return false }
        return ring.producer.push { $0.set(packet, of: datagram.span, arrivedAt: now) }
    }

    mutating func pull() {
        var sound = [Float](repeating: 0, count: 2 * period)
        var room = sound.mutableSpan
        pipeline.pull(into: &room, at: now, from: ring.consumer)
        if !sound.allSatisfy(\.isFinite) { isFinite = false }
        now = now + .milliseconds(5)
    }
}
