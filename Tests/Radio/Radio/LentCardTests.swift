import Glibc
import TenfourAudioCore
import TenfourRadio
import TestSupport
import Testing

extension RealTimeTests {
    /// A capture card that a session gives up while another one has the user's microphone.
    @Suite(.serialized, .needsLabcard) struct LentCardTests {
        /// Several sessions share a microphone, and only one of them captures.
        @Test func aSessionWithoutNeedOfTheCardCapturesSilenceUntilItIsNeeded() throws {
            try expectNoFailure {
                let heard = Heard()
                let port = UDPPort.free()
                let hearing = try RadioSession(.receiving(on: port, into: heard))
                let sending = try RadioSession(.sending(.card("labcard:lent_mic"), toPort: port))
                sending.needsCapture = false
                let mouth = try Mouth("labcard:lent_mic", saying: 440)
                try hearing.start()
                try sending.start()
                #expect(waiting { heard.samples.count > 48_000 })
                #expect(sending.capturedLevel.level == .floor && loudness(of: heard.samples[...]) < 0.001)
                #expect(sending.snapshot?.capture?.isCardLost == false)
                sending.needsCapture = true
                let before = heard.samples.count
                #expect(waiting { heard.samples.count > before + 72_000 })
                for session in [sending, hearing] { session.stop() }
                for session in [sending, hearing] { try session.wait() }
                mouth.finish()
                let amplitude = amplitude(of: 440, in: heard.samples.suffix(24_000))
                return amplitude > 0.3 ? nil : "amplitude \(amplitude)"
            }
        }
    }
}
