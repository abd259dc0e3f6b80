internal import Glibc
public import TenfourAudioCore

/// Writes audio to a file, a pipe or standard output.
///
/// The header of a WAV file is valid after every `write`, so that the file plays even if the process is killed; through
/// a pipe the header states an unknown length. For one thread at a time. Blocks on the disk or the pipe, so it must not
/// be used on an audio thread. After `init` it allocates only for marks.
public struct AudioFileWriter: ~Copyable, AudioSink, Sendable {
    public let format: LPCMFormat

    /// The number of frames written, at `format`'s rate.
    public private(set) var frameCount = FrameCount.zero

    /// The ranges of concealed audio. They are written when a WAV file that supports seeking is closed. For any other
    /// output they are ignored.
    public var marks = WAVMarks()

    private var output: LPCMOutput
    /// Whether the writer closes the descriptor.
    private let isOwned: Bool
    private var isClosed = false
    /// The path of a new file that is removed if no audio is written; nil for any other file.
    private let newPath: String?

    public enum Container: Hashable, Sendable {
        case wav
        /// Samples without a header.
        case raw
    }

    /// Creates or truncates the file. `-` is standard output. Default of `container`: WAV for a file, raw for standard
    /// output.
    ///
    /// If `createsOnFirstWrite` is true, an existing file stays unchanged until the first `write`, and a new file is
    /// removed if `write` is never called.
    public init(
        path: String, format: LPCMFormat, coding: SampleCoding = .signed16, container: Container? = nil,
        createsOnFirstWrite: Bool = false
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
            if !createsOnFirstWrite { try output.begin() }
        } catch {
            if !isStandardOutput { Glibc.close(descriptor.number) }
            throw error
        }
        self.output = output
        self.format = format
        isOwned = !isStandardOutput
        newPath = isNew && createsOnFirstWrite ? path : nil
    }

    /// Writes to an open file or pipe, which the caller closes. `name` is for error messages.
    public init(
        fileDescriptor: Int32, name: String, format: LPCMFormat, coding: SampleCoding = .signed16,
        container: Container = .raw
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

    /// Closes the file like `close`, but ignores errors.
    deinit {
        guard !isClosed else { return }
        try? end()
        if isOwned { Glibc.close(output.descriptor.number) }
    }

    public mutating func write(_ samples: Span<Float>) throws(AudioFileError) { try write(samples, unless: { false }) }

    /// Like `write`, but throws `.readerIsStuck` if a pipe accepts nothing for one second and `isAbandoned` returns
    /// true.
    public mutating func write(_ samples: Span<Float>, unless isAbandoned: () -> Bool) throws(AudioFileError) {
        precondition(!isClosed, "the file has been closed")
        try output.write(samples, unless: isAbandoned)
        frameCount += FrameCount(samples.count / format.channelCount)
    }

    /// Completes and closes the file. Throws if the last bytes cannot be written: some disks report only now that they
    /// are full. A second call does nothing.
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
