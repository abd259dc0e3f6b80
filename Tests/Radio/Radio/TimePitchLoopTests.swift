import Glibc
import Synchronization
import TenfourAudioCore
import TenfourSystem
import TenfourTimePitch
import Testing

@testable import TenfourRadio

@Suite struct TimePitchLoopTests {
    /// Runs `pieces` of 5 ms of a tone through a time-pitch loop whose input has ended. Returns its output.
    private func timeScaled(rate: Double, pitch: Double, pieces: Int = 400) -> [Float] {
        let controls = Controls(isMicrophoneOpen: false, isConnected: true)
        controls.rate.store(rate.bitPattern, ordering: .relaxed)
        controls.pitch.store(pitch.bitPattern, ordering: .relaxed)
        controls.isPlaybackOver.store(true, ordering: .relaxed)
        let heard = RingBuffer<RecordedAudio>(capacity: 512, filler: RecordedAudio())
        let tap = RingBuffer<RecordedAudio>(capacity: 1_024, filler: RecordedAudio())
        let producer = heard.producer
        let written = tap.consumer
        for piece in 0..<pieces {
            var sound = RecordedAudio()
            sound.count = 240
            for index in 0..<240 { sound.samples[index] = Float(0.3 * sin(0.05 * Double(piece * 240 + index))) }
            _ = producer.push(sound)
        }
        TimePitchLoop(
            LiveTimePitch(format: .mono), period: FrameCount(240), controls, TimePitchSharedState(),
            from: heard.consumer,
            to: nil,
            tap: tap.producer
        ).run()
        var samples: [Float] = []
        var piece = RecordedAudio()
        while written.pop(into: &piece) { for index in 0..<piece.count { samples.append(piece.samples[index]) } }
        return samples
    }

    @Test func theRecordingHasTheRateOfThePlayback() {
        let sound = timeScaled(rate: 0.5, pitch: 0)
        #expect(abs(sound.count - 192_000) < 4_000)
    }

    @Test func atRateOneAndPitchZeroNothingIsChanged() {
        // The input is as short as the normal backlog, so that the loop does not speed up to reduce it.
        let sound = timeScaled(rate: 1, pitch: 0, pieces: 30)
        let input: [Float] = (0..<4_000).map { Float(0.3 * sin(0.05 * Double($0))) }
        #expect(Array(sound.prefix(4_000)) == input)
    }

    @Test func samplesThatARecordingDropsAreCounted() {
        let controls = Controls(isMicrophoneOpen: false, isConnected: true)
        controls.isPlaybackOver.store(true, ordering: .relaxed)
        let heard = RingBuffer<RecordedAudio>(capacity: 32, filler: RecordedAudio())
        // Nobody reads this ring until the loop has ended.
        let tap = RingBuffer<RecordedAudio>(capacity: 8, filler: RecordedAudio())
        let producer = heard.producer
        let written = tap.consumer
        var sound = RecordedAudio()
        sound.count = 480
        for _ in 0..<10 { _ = producer.push(sound) }
        TimePitchLoop(
            LiveTimePitch(format: .mono), period: FrameCount(480), controls, TimePitchSharedState(),
            from: heard.consumer,
            to: nil, tap: tap.producer
        ).run()
        var (kept, piece) = (0, RecordedAudio())
        while written.pop(into: &piece) { kept += piece.count }
        let lost = controls.timePitchLoss.load(ordering: .relaxed)
        // The rest at the end plays slightly slower, so more frames may come out than went in.
        #expect(lost > 0 && kept + lost >= 4_800)
    }

    @Test func missingPiecesPlayAsSilence() {
        let ring = RingBuffer<RecordedAudio>(capacity: 8, filler: RecordedAudio())
        let producer = ring.producer
        var source = RecordedAudioReader(ring.consumer)
        var piece = RecordedAudio()
        piece.count = 3
        for index in 0..<3 { piece.samples[index] = 1 }
        _ = producer.push(piece)
        var sound = FixedBuffer<Float>(repeating: 9, count: 5)
        let count = source.fill(&sound)
        #expect(count == 3)
        let heard = (0..<5).map { sound[$0] }
        #expect(heard == [1, 1, 1, 0, 0])
    }
}
