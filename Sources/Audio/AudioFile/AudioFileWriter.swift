internal import Glibc
public import TenfourAudioCore

/// Sound into a file, a pipe or standard output.
///
/// After every `write` the header of a WAV file is true, so that what is there plays even if the process is killed; through a
/// pipe the header says that the length is unknown. Belongs to one thread at a time. Waits for the disk or the pipe, so not
/// an audio thread; after `init` it allocates nothing but what marks take.
public struct AudioFileWriter: ~Copyable, AudioSink, Sendable {
    public let format: LPCMFormat

    /// How much has been written, at `format`'s rate.
    public private(set) var frameCount = FrameCount.zero

    /// What of it is marked in a WAV file that can be written back and forth; elsewhere it is forgotten. They are written at the
    /// end: the file of a program that was killed has none.
    public var marks = WAVMarks()

    private var output: LPCMOutput
    /// Whether the descriptor is ours to close.
    private let isOwned: Bool
    private var isClosed = false
    /// Of a file that is not to stay without sound.
    private let newPath: String?

    public enum AudioFileFormat: Hashable, Sendable {
        case wav
        /// Samples without a header.
        case raw
    }

    /// Makes the file, or empties the one that is there. `-` is standard output. Unless said otherwise a file is WAV and
    /// standard output is raw.
    ///
    /// Where it `beginsWithSound`, a file that is there stays as it is until the first sound is written, and one that was
    /// made does not stay when none ever is.
    public init(
        path: String, format: LPCMFormat, coding: SampleCoding = .signed16, container: AudioFileFormat? = nil,
        beginsWithSound: Bool = false
    ) throws(AudioFileError) {
        let isStandardOutput = path == "-"
        let container = container ?? (isStandardOutput ? .raw : .wav)
        let rawFormat = RawFormat(coding: coding, format: format)
        let name = isStandardOutput ? "standard output" : path
        try LPCMOutput.check(rawFormat, container, for: name)
        let isNew = unsafe !isStandardOutput && access(path, F_OK) != 0
        let descriptor =
            isStandardOutput ? Descriptor(number: STDOUT_FILENO, name: name) : try Descriptor(writing: path)
        var output = LPCMOutput(descriptor, rawFormat, container, replaces: !isStandardOutput)
        do throws(AudioFileError) {
            if !beginsWithSound { try output.begin() }
        } catch {
            if !isStandardOutput { Glibc.close(descriptor.number) }
            throw error
        }
        self.output = output
        self.format = format
        isOwned = !isStandardOutput
        newPath = isNew && beginsWithSound ? path : nil
    }

    /// An open file or pipe, which stays the caller's to close. `name` is for errors.
    public init(
        fileDescriptor: Int32, name: String, format: LPCMFormat, coding: SampleCoding = .signed16,
        container: AudioFileFormat = .raw
    ) throws(AudioFileError) {
        let rawFormat = RawFormat(coding: coding, format: format)
        try LPCMOutput.check(rawFormat, container, for: name)
        var output = LPCMOutput(Descriptor(number: fileDescriptor, name: name), rawFormat, container)
        try output.begin()
        self.output = output
        self.format = format
        isOwned = false
        newPath = nil
    }

    /// Does as `close` does; what goes wrong then is not said.
    deinit {
        guard !isClosed else { return }
        try? end()
        if isOwned { Glibc.close(output.descriptor.number) }
    }

    public mutating func write(_ samples: Span<Float>) throws(AudioFileError) { try write(samples, unless: { false }) }

    /// The same, but throws `.readerIsStuck` where a pipe takes nothing for a second while there `isHopeless`.
    public mutating func write(_ samples: Span<Float>, unless isHopeless: () -> Bool) throws(AudioFileError) {
        precondition(!isClosed, "the file has been closed")
        try output.write(samples, unless: isHopeless)
        frameCount += FrameCount(samples.count / format.channelCount)
    }

    /// Ends the file. Some disks say only here that they are full. A second call does nothing.
    public mutating func close() throws(AudioFileError) {
        guard !isClosed else { return }
        isClosed = true
        do throws(AudioFileError) {
            try end()
        } catch {
            if isOwned { Glibc.close(output.descriptor.number) }
            throw error
        }
        if isOwned { try output.descriptor.close() }
    }

    private func end() throws(AudioFileError) {
        if let newPath, !output.hasBegun { unsafe unlink(newPath) }
        try output.end(marks)
    }
}
