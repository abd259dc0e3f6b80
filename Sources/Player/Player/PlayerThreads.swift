internal import Synchronization
internal import TenfourAudioCore
internal import TenfourEffects
internal import TenfourMediaSource
internal import TenfourSoundCard
internal import TenfourSystem

/// The threads of a player. They are joined when the player is closed.
final class PlayerThreads: Sendable {
    private final class Thread: @unchecked Sendable {
        private var thread: AudioThread?
        init(_ thread: consuming AudioThread) { self.thread = consume thread }
        func join() { thread.take()?.join() }
    }

    private let threads = Locked<[Thread]>([])

    func start<StreamWork: ~Copyable & Sendable>(
        _ name: String, priority: Int?, _ work: consuming StreamWork,
        _ body: @escaping @Sendable (consuming StreamWork) -> Void
    ) throws(StreamError) {
        do throws(AudioThreadError) {
            let thread = Thread(
                try AudioThread(name, priority: priority, stackByteCount: 1 << 21, work: work) { work, _ in body(work) }
            )
            threads.withLock { $0.append(thread) }
        } catch {
            throw .unusable(error.description, kind: .resourcesExhausted)
        }
    }

    func join() {
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        for thread in threads { thread.join() }
    }
}

/// The values that are passed to the worker's thread, which then owns them.
struct StreamWork: ~Copyable, Sendable {
    var producer: RingBufferProducer<AudioBlock>
    var renderer: FileRenderer?
    /// The duration of a crossfade between items; zero for none.
    var crossfade = Duration.zero
    /// The place at which an item starts if nobody asked for one.
    var startPosition: (@Sendable (MediaIdentity, Duration?) -> Duration?)?
    /// Makes the effect of the program's own.
    var makeEffect: (@Sendable (LPCMFormat) -> AnyAudioEffect)?
    /// Which gain of an item's tags its reader applies.
    var gain = ReplayGain.Mode.none
    /// Makes the waveform of each item; nil if none is made.
    var waveform: WaveformAnalysis?
}

/// Polls the audio thread's reports and sends progress events. Has its own thread, since the worker may block while it
/// waits for bytes.
struct PlaybackMonitor {
    let controller: PlaybackController

    /// The time between two polls, in milliseconds.
    private static let interval: Int32 = 50

    func run() {
        var isLively = false
        var count = 0
        while !controller.controls.isOver.load(ordering: .relaxed) {
            controller.monitorWakeup.wait(atMost: isLively ? Self.interval : -1)
            isLively = controller.poll(sendsProgress: count % 2 == 0)
            count += 1
        }
    }
}
