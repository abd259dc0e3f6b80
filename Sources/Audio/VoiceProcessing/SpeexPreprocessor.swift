private import CSpeexDSP
internal import TenfourAudioCore

/// Noise suppression and automatic gain control by speexdsp, for blocks of a fixed number of frames. It delays the
/// audio by one block. The C functions are `speex_preprocess_state_init`, `_run`, `_ctl` and `_destroy`.
///
/// Use it on one thread at a time. Nothing is allocated after `init`.
@safe
struct SpeexPreprocessor: ~Copyable, @unchecked Sendable {
    private let state: OpaquePointer
    private let samples: UnsafeMutablePointer<Int16>
    private let blockLength: Int

    /// Creates a preprocessor for one channel. Returns nil if there is no memory.
    init?(rate: Int, blockLength: Int, suppressesNoise: Bool, controlsGain: Bool) {
        guard let state = unsafe speex_preprocess_state_init(Int32(blockLength), Int32(clamping: rate)) else {
            return nil
        }
        unsafe self.state = state
        self.blockLength = blockLength
        unsafe samples = .allocate(capacity: blockLength)
        unsafe samples.initialize(repeating: 0, count: blockLength)
        set(SPEEX_PREPROCESS_SET_DENOISE, suppressesNoise ? 1 : 0)
        set(SPEEX_PREPROCESS_SET_AGC, controlsGain ? 1 : 0)
        // The gain of quiet speech; more would raise the noise of a quiet room to the level of speech.
        set(SPEEX_PREPROCESS_SET_AGC_MAX_GAIN, 18)
    }

    deinit {
        unsafe speex_preprocess_state_destroy(state)
        unsafe samples.deallocate()
    }

    /// Processes a block of `blockLength` frames. speexdsp 1.2.1 allocates only in `init`.
    @_semantics("no_performance_analysis")
    mutating func process(_ block: inout MutableSpan<Float>) {
        precondition(block.count == blockLength, "a block has a fixed length")
        for index in block.indices {
            let sample = block[index] * 32_768
            unsafe samples[index] = sample > -32_768 ? (sample < 32_767 ? Int16(sample) : 32_767) : -32_768
        }
        _ = unsafe speex_preprocess_run(state, samples)
        for index in block.indices { block[index] = unsafe Float(samples[index]) / 32_768 }
    }

    private func set(_ request: Int32, _ value: Int32) {
        var value = value
        _ = unsafe speex_preprocess_ctl(state, request, &value)
    }
}
