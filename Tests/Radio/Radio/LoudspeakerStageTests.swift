import Synchronization
import TenfourAudioCore
import Testing

@testable import TenfourRadio

@Suite struct LoudspeakerStageTests {
    /// Plays ones after `set`, and returns the last sample of 50 ms.
    private func played(_ isHalfDuplex: Bool = false, _ set: (Controls) -> Void) -> Float {
        let controls = Controls(isMicrophoneOpen: false, isConnected: true, isHalfDuplex: isHalfDuplex)
        var stage = LoudspeakerStage(format: .mono)
        stage.update(from: controls)
        set(controls)
        var sound = FixedBuffer<Float>(repeating: 1, count: 2_400)
        stage.update(from: controls)
        stage.apply(to: &sound)
        return sound[2_399]
    }

    @Test func aSessionInTheBackgroundIsLoweredOrMuted() {
        #expect(played { _ in } == 1)
        #expect(played { $0.background.store(Background.ducked.rawValue, ordering: .relaxed) } == 0.25)
        #expect(played { $0.background.store(Background.muted.rawValue, ordering: .relaxed) } == 0)
        #expect(played { $0.background.store(200, ordering: .relaxed) } == 1)
    }

    @Test func anOpenMicrophoneMutesInHalfDuplexOnly() {
        #expect(played { $0.isMicrophoneOpen.store(true, ordering: .relaxed) } == 1)
        #expect(played(true) { $0.isMicrophoneOpen.store(true, ordering: .relaxed) } == 0)
    }
}
