internal import Synchronization
internal import TenfourEffects
internal import TenfourRings

/// The rate, pitch and equaliser of the output. For any thread.
final class PlaybackParameters: Sendable {
    private let rateBits = Atomic<UInt64>((1.0).bitPattern)
    private let pitchBits = Atomic<UInt64>((0.0).bitPattern)
    private let contents = Locked<[EqualizerBand]>([])
    private let version = Atomic<Int>(0)

    var rate: Double {
        get { Double(bitPattern: rateBits.load(ordering: .relaxed)) }
        set { rateBits.store(newValue.bitPattern, ordering: .relaxed) }
    }

    /// The pitch shift in cents.
    var pitch: Double {
        get { Double(bitPattern: pitchBits.load(ordering: .relaxed)) }
        set { pitchBits.store(newValue.bitPattern, ordering: .relaxed) }
    }

    var bands: [EqualizerBand] {
        get { contents.withLock { $0 } }
        set {
            contents.withLock { $0 = newValue }
            version.add(1, ordering: .releasing)
        }
    }

    /// Incremented with each change of `bands`, so that the worker fetches `bands` only after a change.
    var bandsVersion: Int { version.load(ordering: .acquiring) }
}
