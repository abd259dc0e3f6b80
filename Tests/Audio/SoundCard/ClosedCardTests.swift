import TenfourAudioCore
import TestSupport
import Testing

@testable import TenfourSoundCard

/// A capture card that is closed while it is not needed.
@Suite(.serialized, .inRealTimeOnACard, .needsLabcard) struct ClosedCardTests {
    init() { _ = PrivateALSA.directory }

    @Test func aClosedMicrophoneIsSilentAndPacedUntilItIsOpenedAgain() throws {
        var card = try CaptureCard(device: "labcard:closing", period: FrameCount(480))
        var frame = [Float](repeating: 0, count: 480)
        /// Returns the number of silent frames, and whether the card was reopened meanwhile.
        func read(for time: Duration) -> (silentCount: Int, isReopened: Bool) {
            let start = ContinuousClock.now
            var (silentCount, isReopened) = (0, false)
            while ContinuousClock.now - start < time {
                for index in frame.indices { frame[index] = 9 }
                var span = frame.mutableSpan
                switch card.read(into: &span) {
                case .captured: silentCount += frame.allSatisfy { $0 == 0 } ? 480 : 0
                case .interrupted(let interruption): isReopened = isReopened || interruption.cause == .reopened
                }
            }
            return (silentCount, isReopened)
        }
        // The macro cannot read a property of a noncopyable value.
        func isAwaited() -> Bool { card.isAwaited }
        _ = read(for: .milliseconds(100))
        card.close()
        card.close()
        #expect(isAwaited())
        let closed = read(for: .milliseconds(500))
        #expect(!closed.isReopened && closed.silentCount > 4_800 && closed.silentCount <= 26_400, "\(closed)")
        card.reopen()
        #expect(read(for: .seconds(1)).isReopened && !isAwaited())
        #expect(read(for: .milliseconds(200)).silentCount > 0)
        // It is closed while it is being opened.
        card.close()
        card.reopen()
        card.close()
        #expect(!read(for: .milliseconds(300)).isReopened && isAwaited())
        card.reopen()
        #expect(read(for: .seconds(1)).isReopened)
    }
}
