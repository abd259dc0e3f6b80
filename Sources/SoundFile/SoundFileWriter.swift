internal import Glibc
public import Sound

/// Sound into a file, a pipe or standard output.
///
/// After every `write` the header of a WAV file is true, so that what is there plays even if the process is killed; through a
/// pipe the header says that the length is unknown. Belongs to one thread at a time. Waits for the disk or the pipe, so not
/// an audio thread; after `init` it allocates nothing.
public struct SoundFileWriter: ~Copyable, AudioSink, Sendable {
    public let format: LPCMFormat

    /// How much has been written, at `format`'s rate.
    public private(set) var frameCount = FrameCount.zero

    private var output: LPCMOutput
    /// Whether the descriptor is ours to close.
    private let isOwned: Bool
    private var isClosed = false

    public enum Container: Hashable, Sendable {
        case wav
        /// Samples without a header.
        case raw
    }

    /// Makes the file, or empties the one that is there. `-` is standard output. Unless said otherwise a file is WAV and
    /// standard output is raw.
    public init(
        path: String, format: LPCMFormat, coding: SampleCoding = .signed16, container: Container? = nil
    ) throws(SoundFileError) {
        let isStandardOutput = path == "-"
        let container = container ?? (isStandardOutput ? .raw : .wav)
        let rawFormat = RawFormat(coding: coding, format: format)
        let name = isStandardOutput ? "standard output" : path
        try LPCMOutput.check(rawFormat, container, for: name)
        let descriptor = isStandardOutput ? Descriptor(number: STDOUT_FILENO, name: name) : try Descriptor(making: path)
        do throws(SoundFileError) {
            output = try LPCMOutput(descriptor, rawFormat, container)
        } catch {
            if !isStandardOutput { Glibc.close(descriptor.number) }
            throw error
        }
        self.format = format
        isOwned = !isStandardOutput
    }

    /// An open file or pipe, which stays the caller's to close. `name` is for errors.
    public init(
        fileDescriptor: Int32, name: String, format: LPCMFormat, coding: SampleCoding = .signed16,
        container: Container = .raw
    ) throws(SoundFileError) {
        let rawFormat = RawFormat(coding: coding, format: format)
        try LPCMOutput.check(rawFormat, container, for: name)
        output = try LPCMOutput(Descriptor(number: fileDescriptor, name: name), rawFormat, container)
        self.format = format
        isOwned = false
    }

    /// Does as `close` does; what goes wrong then is not said.
    deinit {
        guard !isClosed else { return }
        try? output.end()
        if isOwned { Glibc.close(output.descriptor.number) }
    }

    public mutating func write(_ samples: Span<Float>) throws(SoundFileError) {
        precondition(!isClosed, "the file has been closed")
        try output.write(samples)
        frameCount += FrameCount(samples.count / format.channelCount)
    }

    /// Ends the file. Some disks say only here that they are full. A second call does nothing.
    public mutating func close() throws(SoundFileError) {
        guard !isClosed else { return }
        isClosed = true
        do throws(SoundFileError) {
            try output.end()
        } catch {
            if isOwned { Glibc.close(output.descriptor.number) }
            throw error
        }
        if isOwned { try output.descriptor.close() }
    }
}
