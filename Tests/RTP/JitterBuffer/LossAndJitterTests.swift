import Glibc
import TenfourAudioCore
import TenfourJitterBuffer
import TenfourPackets
import TenfourSeededRandom
import TestSupport
import Testing

/// A seeded source of delays and losses (SplitMix64).
struct Chance: RandomNumberGenerator {
    private var generator: SplitMix64

    init(state: UInt64) { generator = SplitMix64(state: state) }

    mutating func next() -> UInt64 { generator.next() }

    /// Normally distributed with mean 0 and deviation 1, from −6 to 6.
    mutating func normal() -> Double {
        (0..<12).reduce(-6) { sum, _ in sum + .random(in: 0..<1, using: &self) }
    }
}

@Test func aLostPacketIsConcealedInItsPlace() {
    var talk = SimulatedTalk()
    talk.delay = { $0 % 20 == 10 ? nil : FrameCount(48) }
    talk.run(seconds: 10)
    let depths = talk.depths.dropFirst(50)
    #expect(talk.buffer.statistics.concealed == FrameCount(25 * 960))
    // After the first loss has added a packet of look-ahead. Time-scaling moves the delay by whole pitch periods of 6.7 ms.
    #expect((depths.max() ?? 0) - (depths.min() ?? 0) < 6.7)
}

@Test func theNextPacketsFECBringsALostOneBack() {
    var talk = SimulatedTalk(PlayoutConfiguration(playoutDelay: .fixed(FrameCount(1_440))))
    talk.carriesFEC = true
    talk.delay = { $0 % 20 == 10 ? nil : FrameCount(48) }
    talk.run(seconds: 10)
    #expect(talk.buffer.statistics.recovered == FrameCount(25 * 960))
    #expect(talk.concealed == 0)
}

/// 240 ms: longer than what is made up, so it is silent in between.
@Test(arguments: [true, false]) func theLastPacketOfALongBurstIsRecovered(carriesFEC: Bool) {
    var talk = SimulatedTalk(PlayoutConfiguration(playoutDelay: .fixed(FrameCount(1_440))))
    talk.carriesFEC = carriesFEC
    talk.delay = { (10..<22).contains($0 % 50) ? nil : FrameCount(48) }
    talk.run(seconds: 10)
    let statistics = talk.buffer.statistics
    #expect(statistics.recovered == FrameCount(carriesFEC ? 10 * 960 : 0))
    #expect(statistics.concealed + statistics.recovered == FrameCount(120 * 960))
    #expect(talk.played.contains(.packet(22)))
}

@Test func lookAheadIsAddedWhenFECIsThereAndLossIsSeen() {
    var talk = SimulatedTalk()
    talk.carriesFEC = true
    talk.delay = { $0 % 20 == 10 ? nil : FrameCount(48) }
    talk.run(seconds: 20)
    let before = talk.buffer.statistics
    talk.run(seconds: 10)
    #expect(talk.buffer.statistics.recovered - before.recovered == FrameCount(25 * 960))
    #expect(talk.buffer.statistics.concealed == before.concealed)
}

@Test func aPacketConcealedAlreadyIsLeftOutAndTheDelayStays() {
    var talk = SimulatedTalk()
    talk.run(seconds: 10)
    let depth = talk.depths.last ?? 0
    talk.delay = { $0 == 505 ? FrameCount(2_400) : FrameCount(48) }
    talk.run(seconds: 1)
    #expect(talk.buffer.statistics.late == 1)
    #expect(talk.buffer.statistics.concealed == FrameCount(960))
    talk.run(seconds: 14)
    #expect(abs((talk.depths.last ?? 0) - depth) < 2.5, "and the look-ahead it made worth while is gone again")
}

@Test func aLinkThatJittersDeepensTheBufferAndAQuietOneMakesItShallowAgain() {
    var chance = Chance(state: 3)
    let delays = (0..<6_000).map { _ in FrameCount(48 * Int(max(0, 30 + 10 * chance.normal()))) }
    var talk = SimulatedTalk()
    talk.delay = { $0 < 3_000 ? delays[$0] : FrameCount(48 * 30) }
    talk.run(seconds: 60)
    let depths = talk.depths
    let late = talk.buffer.statistics.late
    #expect(late < 30, "of 3000 packets \(late) came late")
    #expect(depths[2_900] > 30 && depths[2_900] < 80, "depth \(depths[2_900]) ms")
    talk.run(seconds: 40)
    #expect((talk.depths.last ?? 99) < 15)
}

@Test func aStallIsWaitedForAndItsPacketsArePlayed() {
    var talk = SimulatedTalk()
    talk.run(seconds: 5)
    // Packets 260…270 are held until the last of them is there.
    talk.delay = { (260..<270).contains($0) ? FrameCount((270 - $0) * 960) : FrameCount(48) }
    talk.run(seconds: 5)
    let packets = talk.packets
    let missing = (250..<300).filter { !packets.contains($0) }
    #expect(missing.count <= 2, "left out: \(missing)")
}

@Test(arguments: [(5_000, 0), (0, 480_000), (5_000, 1_000_000), (0, -96_000), (-20_000, -9_999_999)])
func aJumpIsFollowedWithin200Milliseconds(sequence: Int, frames: Int) {
    var talk = SimulatedTalk()
    talk.jump = { $0 < 250 ? (0, 0) : (sequence, frames) }
    talk.run(seconds: 4.9)
    let before = talk.packets.count
    talk.run(seconds: 0.32)
    let after = talk.packets.count - before
    #expect(after >= 16 - 10, "\(after) of 16 packets played around the jump")
    #expect(talk.buffer.statistics.resyncs == 1)
    talk.run(seconds: 5)
    #expect((talk.depths.last ?? 99) < 13)
}

/// What was lost of the old numbers says nothing of the new ones: no look-ahead is kept for it.
@Test func aTalkerThatStartsAgainAfterLossIsNoDeeperForIt() {
    var talk = SimulatedTalk()
    talk.jump = { $0 < 250 ? (0, 0) : (5_000, 480_000) }
    talk.delay = { $0 < 240 && $0 % 20 == 10 ? nil : FrameCount(48) }
    talk.run(seconds: 4.9)
    #expect(talk.buffer.statistics.target > FrameCount(960), "while packets are lost it waits for one more")
    talk.run(seconds: 1)
    #expect(talk.buffer.statistics.resyncs == 1)
    #expect(talk.buffer.statistics.target < FrameCount(720), "\(talk.buffer.statistics.target)")
}

/// A quarter of an hour, or as many hours as TENFOUR_HOURS says.
@Test(arguments: [300.0, -300.0])
func clocksApartPlayForHoursWithoutADropOut(partsPerMillion: Double) {
    let hours = unsafe getenv("TENFOUR_HOURS").flatMap { unsafe Double(String(cString: $0)) } ?? 0.25
    var talk = SimulatedTalk()
    talk.driftPartsPerMillion = partsPerMillion
    talk.run(seconds: 3_600 * hours)
    #expect(talk.buffer.statistics.timeScaled == .zero, "the resampler does it alone, unheard")
    let statistics = talk.buffer.statistics
    #expect(statistics.concealed == .zero)
    #expect(statistics.late == 0)
    let depths = talk.depths
    #expect(depths.allSatisfy { $0 < 13 }, "\(depths.max() ?? 0) ms")
    #expect(abs(Double(statistics.driftPartsPerMillion) - partsPerMillion) < 15)
}

@Test func noiseInsteadOfPacketsTrapsNothing() throws {
    var chance = Chance(state: 9)
    var buffer = try JitterBuffer(format: .mono)
    buffer.begin(SSRC(1))
    var decoder = RecordingDecoder { _ in FrameCount(960) }
    var output = [Float](repeating: 0, count: 240)
    let payload = [UInt8](repeating: 0, count: 60)
    var now = 0
    for round in 0..<20_000 {
        // The numbers jump four times.
        let jump = round / 4_000 * 50_000_000
        let wild = UInt8.random(in: 0...9, using: &chance) == 0
        buffer.insert(
            payload.span,
            PacketInfo(
                sequenceNumber: SequenceNumber(
                    rawValue: wild
                        ? .random(in: 0 ... .max, using: &chance) : UInt16(truncatingIfNeeded: (now + jump) / 960)),
                timestamp: RTPTimestamp(
                    rawValue: wild ? .random(in: 0 ... .max, using: &chance) : UInt32(truncatingIfNeeded: now + jump)),
                frameCount: FrameCount(.random(in: 1...48, using: &chance) * 120),
                carriesFEC: .random(using: &chance)),
            arrivedAt: FrameCount(now))
        for _ in 0..<Int.random(in: 0...3, using: &chance) {
            _ = decoder.pull(240, from: &buffer, at: FrameCount(now), into: &output)
            _ = decoder.takeCalls()
            now += 240
        }
    }
    #expect(buffer.statistics.resyncs > 0)
}
