import Synchronization
import TenfourAudioCore
import TenfourPackets
import TenfourSystem
import TenfourTransmissions
import Testing

@testable import TenfourRadio
@testable import TenfourSession

/// A replay, and those who begin to talk meanwhile.
struct ReplayInterruptionTests {
    /// A card with periods of 10 ms that plays a replay, a tone of 440 Hz, and received audio, a tone of 1000 Hz. A
    /// packet is played in the period in which it arrives, earlier than any jitter buffer would.
    private final class Scene {
        let controls: Controls
        private(set) var heard: [Float] = []
        /// The received audio before it went to the card.
        private(set) var received: [Float] = []
        private let replays: Replays
        private var stage: LoudspeakerStage
        private var history: HistoryKeeper
        private let pieces: RingBufferProducer<RecordedAudio>
        private let replayed = tone(440, seconds: 1)
        private let voice = tone(1_000, seconds: 1)
        private var packetCount = 0

        static let period = 480

        init() throws {
            replays = try Replays()
            controls = Controls(isMicrophoneOpen: false, isConnected: true, replays: replays)
            let ring = RingBuffer(capacity: ReplayLoop.pieceCount, filler: RecordedAudio())
            pieces = ring.producer
            stage = LoudspeakerStage(
                format: .mono,
                replay: LoudspeakerReplay(replays, ring.consumer, format: .mono, period: FrameCount(Self.period)))
            history = HistoryKeeper(replays, controls.talkerVolumes)
        }

        var isReplaying: Bool { replays.isPlaying }

        func press() throws {
            replays.request(.lastTransmission)
            history.answerRequest(at: now)
            try #require(replays.playNext())
        }

        private var now: Instant { .start + .milliseconds(10) * (heard.count / Self.period) }

        /// Plays a number of periods. `talker` talks meanwhile, if any, after a press of its key.
        func play(_ count: Int, talker: UInt32? = nil, isPressed: Bool = true) {
            for index in 0..<count {
                var piece = RecordedAudio()
                piece.count = Self.period
                var sound = FixedBuffer<Float>(repeating: 0, count: Self.period)
                for frame in 0..<Self.period {
                    piece.samples[frame] = replayed[(heard.count + frame) % replayed.count]
                    if talker != nil { sound[frame] = voice[index * Self.period + frame] }
                }
                _ = pieces.push(piece)
                stage.update(from: controls)
                if let talker { arrive(from: talker, marker: isPressed && index == 0) }
                received += (0..<Self.period).map { sound[$0] }
                stage.apply(to: &sound)
                heard += (0..<Self.period).map { sound[$0] }
            }
        }

        private func arrive(from ssrc: UInt32, marker: Bool) {
            packetCount += 1
            let header = RTPHeader(
                marker: marker, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: UInt16(packetCount)),
                timestamp: RTPTimestamp(rawValue: UInt32(packetCount * Self.period)), ssrc: SSRC(ssrc))
            let packet = MediaPacket(
                header: header, sequenceNumber: header.sequenceNumber, payload: 0..<40,
                frameCount: FrameCount(Self.period), encoding: .opus, origin: .original)
            history.insert([UInt8](repeating: 1, count: 40).span, packet, at: now)
        }

        var largestStep: Float { zip(heard, heard.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) } }
    }

    @Test func aTalkerWhoBeginsIsHeardAtFullVolumeWithin20Milliseconds() throws {
        let scene = try Scene()
        scene.play(2)
        try scene.press()
        scene.play(20)
        #expect(abs(amplitude(of: 440, in: scene.heard.suffix(4_800)) - 0.3) < 0.01)
        let start = scene.heard.count
        scene.play(20, talker: 7)
        #expect(!scene.isReplaying)
        #expect(Array(scene.heard[(start + 960)...]) == Array(scene.received[(start + 960)...]))
        // 0.075 is the steepest that both tones are together.
        #expect(scene.largestStep < 0.08, "a click: \(scene.largestStep)")
    }

    @Test func aTalkerWhoGoesOnIsLoweredUntilAnotherBegins() throws {
        let scene = try Scene()
        scene.play(20, talker: 7)
        try scene.press()
        scene.play(20, talker: 7, isPressed: false)
        #expect(scene.isReplaying)
        #expect(abs(amplitude(of: 1_000, in: scene.heard.suffix(4_800)) - 0.1) < 0.005)
        scene.play(20, talker: 8, isPressed: false)
        #expect(!scene.isReplaying)
        #expect(abs(amplitude(of: 1_000, in: scene.heard.suffix(4_800)) - 0.4) < 0.005)
    }

    @Test func aMutedTalkerEndsNoReplay() throws {
        let scene = try Scene()
        scene.controls.talkerVolumes.set(0, of: SSRC(7))
        try scene.press()
        scene.play(10, talker: 7)
        #expect(scene.isReplaying)
        scene.play(10, talker: 8)
        #expect(!scene.isReplaying)
    }

    @Test func aReplayBeginsAgainAfterAnInterruption() throws {
        let scene = try Scene()
        try scene.press()
        scene.play(10, talker: 7)
        try scene.press()
        #expect(scene.isReplaying)
    }

    @Test func aTransmissionEndsTheReplaysOfSessionsHeardTogether() throws {
        let (own, other, apart) = (try Replays(), try Replays(), try Replays())
        own.setOthers([other])
        for replays in [other, apart] {
            replays.request(.lastMinute)
            replays.deliver(TransmissionHistory(), try #require(replays.takeRequest()), at: .start)
            try #require(replays.playNext())
        }
        own.interrupt()
        #expect(!other.isPlaying && apart.isPlaying && !own.isPlaying)
    }

    @Test func anInterruptionWhileTheHistoryIsCopiedEndsTheReplay() throws {
        let replays = try Replays()
        replays.request(.lastMinute)
        let request = try #require(replays.takeRequest())
        replays.interrupt()
        replays.deliver(TransmissionHistory(), request, at: .start)
        try #require(replays.playNext())
        #expect(!replays.isPlaying)
        replays.request(.lastTransmission)
        let next = try #require(replays.takeRequest())
        #expect(next.range == .lastTransmission && replays.isCurrent(next.number) && replays.takeRequest() == nil)
    }

    @Test func aRequestThatIsNotPlayedEnds() throws {
        let replays = try Replays()
        replays.request(.lastMinute)
        replays.interrupt()
        #expect(replays.takeEvents() == [.ended] && replays.takeRequest() == nil)
        replays.stop()
        #expect(replays.takeEvents() == [], "nothing was asked for")
        replays.request(.lastMinute)
        replays.request(.lastTransmission)
        #expect(replays.takeEvents() == [.ended] && replays.takeRequest()?.range == .lastTransmission)
        for _ in 0..<2 {
            replays.request(.lastMinute)
            replays.deliver(TransmissionHistory(), try #require(replays.takeRequest()), at: .start)
        }
        #expect(replays.takeEvents() == [.ended])
    }
}

extension Replays {
    /// Plays what was delivered. Returns whether there was anything.
    fileprivate func playNext() -> Bool {
        guard let order = nextOrder() else { return false }
        begin(order.number)
        return true
    }
}
