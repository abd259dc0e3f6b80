internal import TenfourPackets

/// The volumes of a mixer's talkers, and the gains that they have reached.
@usableFromInline
struct TalkerVolumeTable: BitwiseCopyable, Sendable {
    /// The gain of a pull: it changes evenly from the first frame to the last.
    @usableFromInline
    struct Gain: BitwiseCopyable, Sendable {
        var start: Float
        var end: Float
    }

    private struct Entry: BitwiseCopyable, Sendable {
        var ssrc = SSRC(0)
        var volume: Float = 1
    }

    private var entries = InlineArray<16, Entry>(repeating: Entry())
    private var count = 0
    /// The gains at the end of the last pull, by buffer.
    private var reached = InlineArray<8, Float>(repeating: 1)

    @_noAllocation @_noLocks
    init() {}

    @_noAllocation @_noLocks
    mutating func removeAll() { count = 0 }

    @_noAllocation @_noLocks
    mutating func set(_ volume: Float, of ssrc: SSRC) {
        guard count < entries.count else { return }
        entries[count] = Entry(ssrc: ssrc, volume: volume > 0 ? volume : 0)
        count += 1
    }

    /// Returns the gain of the next pull of buffer `index`, which belongs to `ssrc`. A buffer that was idle begins with
    /// its talker's volume.
    @_noAllocation @_noLocks
    mutating func next(_ index: Int, of ssrc: SSRC?, isIdle: Bool) -> Gain {
        var wanted: Float = 1
        for place in 0..<count where entries[place].ssrc == ssrc { wanted = entries[place].volume }
        let start = isIdle ? wanted : reached[index]
        reached[index] = wanted
        return Gain(start: start, end: wanted)
    }
}

extension TalkerVolumeTable.Gain {
    /// Applies the gain to interleaved audio.
    @usableFromInline @_noAllocation @_noLocks
    func apply(to samples: inout MutableSpan<Float>, channelCount: Int) {
        guard start != 1 || end != 1 else { return }
        let frameCount = samples.count / channelCount
        let step = (end - start) / Float(frameCount > 0 ? frameCount : 1)
        for frame in 0..<frameCount {
            let gain = start + step * Float(frame + 1)
            for channel in 0..<channelCount { samples[frame * channelCount + channel] *= gain }
        }
    }
}
