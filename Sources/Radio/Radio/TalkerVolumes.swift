internal import Synchronization
internal import TenfourJitterBuffer
internal import TenfourPackets
internal import TenfourSystem

/// The volumes of single talkers, which the user sets and the playback thread applies. At most `capacity` talkers have
/// a volume other than 1; setting one more resets the oldest that is not muted, or else the oldest.
final class TalkerVolumes: Sendable {
    /// Changes with every change of a volume.
    let version = Atomic<Int>(0)

    private let entries: InlineArray<16, Atomic<UInt64>>
    private let known = Locked<[Entry]>([])

    static var capacity: Int { Mixer.volumeCapacity }

    private struct Entry: Sendable {
        var ssrc: SSRC
        var volume: Float

        /// The lowest bit marks an entry in use. It changes the volume by an amount that nobody hears.
        var packed: UInt64 { UInt64(ssrc.rawValue) << 32 | UInt64(volume.bitPattern | 1) }
    }

    init() { entries = InlineArray { _ in Atomic(0) } }

    /// Any thread but those of audio. Limits `volume` to 0…4.
    func set(_ volume: Float, of ssrc: SSRC) {
        known.withLock { known in
            known.removeAll { $0.ssrc == ssrc }
            let volume = volume > 0 ? min(volume, 4) : 0
            if volume != 1 { known.append(Entry(ssrc: ssrc, volume: volume)) }
            if known.count > Self.capacity { known.remove(at: known.firstIndex { $0.volume > 0 } ?? 0) }
            for index in entries.indices {
                entries[index].store(index < known.count ? known[index].packed : 0, ordering: .relaxed)
            }
            version.add(1, ordering: .releasing)
        }
    }

    /// Any thread but those of audio.
    func volume(of ssrc: SSRC) -> Float {
        known.withLock { known in known.first { $0.ssrc == ssrc }?.volume ?? 1 }
    }

    /// Playback thread. Gives the volumes to `mixer`.
    func apply(to mixer: inout Mixer) {
        mixer.removeVolumes()
        for index in entries.indices {
            let packed = entries[index].load(ordering: .relaxed)
            guard packed != 0 else { continue }
            let volume = Float(bitPattern: UInt32(truncatingIfNeeded: packed) & ~1)
            mixer.setVolume(volume, of: SSRC(UInt32(truncatingIfNeeded: packed >> 32)))
        }
    }
}
