internal import Glibc
public import TenfourAudioCore
internal import TenfourClocks
internal import TenfourSystem

/// Makes the talker's voice a holder of the microphone (VOX): a thread that follows the level of captured audio.
public final class VoiceHolder: Sendable {
    private let isStopped = Locked(false)

    /// The time between two readings of the level, in microseconds.
    private static let interval: UInt32 = 10_000
    /// The time after which a level that is not renewed counts as silence, because the card is gone.
    private static let longestSilence = Duration.milliseconds(200)

    /// Starts the thread. `level` returns the latest level, and a number that changes with each renewal; it is called a
    /// hundred times a second. Throws the errno if the system cannot create a thread.
    public init(
        _ lease: MicrophoneLease, _ settings: VoiceActivity.Settings = VoiceActivity.Settings(),
        level: @escaping @Sendable () -> (level: Level, number: UInt32)
    ) throws(MicrophoneLeaseError) {
        do throws(ThreadError) {
            try WorkerThread.detached { [isStopped] in
                var activity = VoiceActivity(settings)
                var (lastNumber, renewed) = (level().number, MonotonicClock.now)
                while !isStopped.withLock({ $0 }) {
                    usleep(Self.interval)
                    let (reading, now) = (level(), MonotonicClock.now)
                    if reading.number != lastNumber { (lastNumber, renewed) = (reading.number, now) }
                    let isCurrent = now - renewed < Self.longestSilence
                    guard activity.append(isCurrent ? reading.level : .floor, at: now) else { continue }
                    if activity.isOpen { lease.press(.voice, at: now) } else { lease.release(.voice, at: now) }
                }
                lease.vanish(.voice)
            }
        } catch {
            throw MicrophoneLeaseError(code: error.code)
        }
    }

    deinit { stop() }

    /// Ends the thread within 20 ms. The voice no longer holds the microphone then.
    public func stop() { isStopped.withLock { $0 = true } }
}
