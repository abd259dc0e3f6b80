package import TenfourAudioFile
package import TenfourMediaSource

/// Samples of the audio that are wider than those of the output file.
package struct SampleShortening: Hashable, Sendable {
    /// The width of the samples of the audio.
    package let recorded: SampleWidth
    /// The encoding of the samples in the file.
    package let coding: SampleCoding
}
