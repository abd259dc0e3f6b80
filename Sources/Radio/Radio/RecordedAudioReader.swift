internal import TenfourAudioCore
internal import TenfourSystem

/// Reads a ring buffer of audio pieces as a sequence of samples.
struct RecordedAudioReader: ~Copyable, Sendable {
    private let pieces: RingBufferConsumer<RecordedAudio>
    private var piece = RecordedAudio()
    private var used = 0

    init(_ pieces: consuming RingBufferConsumer<RecordedAudio>) { self.pieces = pieces }

    /// Fills `sound`, with silence at the end if the audio does not suffice. Returns the number of samples that are not
    /// silence.
    @_noAllocation @_noLocks
    mutating func fill(_ sound: inout FixedBuffer<Float>) -> Int {
        var filled = 0
        while filled < sound.count {
            if used == piece.count {
                guard pieces.pop(into: &piece) else { break }
                used = 0
            }
            sound[filled] = piece.samples[used]
            used += 1
            filled += 1
        }
        for index in filled..<sound.count { sound[index] = 0 }
        return filled
    }
}
