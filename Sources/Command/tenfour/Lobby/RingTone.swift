import Synchronization
import TenfourAudioCore
import TenfourSoundCard

/// Rings on a sound card, every three seconds, until `stop`. Without a usable card it is silent.
final class RingTone {
    private let isStopping: Stopping
    private var thread: AudioThread?

    private final class Stopping: Sendable { let isSet = Atomic(false) }

    static let interval = Duration.seconds(3)
    private static let period = Duration.milliseconds(10)

    /// Opens the card on a thread of its own.
    init(card: String) {
        let isStopping = Stopping()
        self.isStopping = isStopping
        thread = try? AudioThread("ring", priority: nil, work: card) { card, _ in Self.ring(on: card, until: isStopping)
        }
    }

    deinit { stop() }

    /// Ends the tone, and waits until the card is closed.
    func stop() {
        isStopping.isSet.store(true, ordering: .releasing)
        thread.take()?.join()
    }

    private static func ring(on name: String, until isStopping: Stopping) {
        guard var card = try? PlaybackCard(device: name, period: FrameCount(period)) else { return }
        card.allowForLateWakeups()
        let format = card.granted.format
        var generator = SignalToneGenerator(format: format)
        var samples: [Float] = []
        var next = ContinuousClock.now
        while !isStopping.isSet.load(ordering: .acquiring) {
            guard case .demand(let demand) = card.wait() else { continue }
            if ContinuousClock.now >= next {
                generator.begin(.ring)
                next = .now + interval
            }
            samples = Array(repeating: 0, count: demand.frameCount.rawValue * format.channelCount)
            var span = samples.mutableSpan
            generator.add(to: &span)
            card.write(samples.span)
        }
    }
}
