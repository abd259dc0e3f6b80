internal import Glibc
public import TenfourAudioCore

/// Writes audio to a file, a pipe or standard output.
///
/// The header of a WAV file is valid after every `write`, so that the file plays even if the process is killed; through
/// a pipe the header states an unknown length. For one thread at a time. Blocks on the disk or the pipe, so it must not
/// be used on an audio thread. After `init` it allocates only for marks, and libsndfile, which writes FLAC, for itself.
public struct AudioFileWriter: ~Copyable, AudioSink, Sendable {
    public let format: LPCMFormat

    /// The number of frames written, at `format`'s rate.
    public private(set) var frameCount = FrameCount.zero

    /// The ranges of concealed audio. They are written when a WAV file that supports seeking is closed. For any other
    /// output they are ignored.
    public var marks = WAVMarks()

    /// The tags of a FLAC file that is created on the first `write`. Set them before. For any other output they are
    /// ignored.
    public var tags = AudioFileTags()

    private var file: WritableFile
    /// The encoder of the samples: exactly one of the two is there.
    private var lpcm: LPCMOutput?
    private var flac: FLACOutput?
    private var isClosed = false

    public enum Container: Hashable, Sendable {
        case wav
        /// FLAC, written by libsndfile. Its samples have 16 or 24 bits (`signed16` or `packedSigned24`).
        case flac
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
        try rawFormat.check(container, for: isStandardOutput ? "standard output" : path)
        try self.init(try WritableFile(path: path), rawFormat, container, begins: !createsOnFirstWrite)
    }

    /// Writes to an open file or pipe, which the caller closes. `name` is for error messages.
    public init(
        fileDescriptor: Int32, name: String, format: LPCMFormat, coding: SampleCoding = .signed16,
        container: Container = .raw
    ) throws(AudioFileError) {
        let rawFormat = RawFormat(coding: coding, format: format)
        try rawFormat.check(container, for: name)
        let file = WritableFile(Descriptor(number: fileDescriptor, name: name))
        try self.init(file, rawFormat, container, begins: true)
    }

    private init(
        _ opened: consuming WritableFile, _ rawFormat: RawFormat, _ container: Container, begins: Bool
    ) throws(AudioFileError) {
        var file = opened
        let lpcm = container == .flac ? nil : LPCMOutput(file.descriptor, rawFormat, container)
        var flac = container == .flac ? FLACOutput(file.descriptor, rawFormat) : nil
        if begins {
            try file.begin()
            try lpcm?.begin(unless: { false })
            try flac?.begin(AudioFileTags())
        }
        format = rawFormat.format
        self.lpcm = lpcm
        self.flac = flac.take()
        self.file = file
    }

    /// Closes the file like `close`, but ignores errors.
    deinit {
        guard !isClosed else { return }
        try? lpcm?.end(marks)
        // Before the descriptor is closed.
        try? flac?.end()
    }

    public mutating func write(_ samples: Span<Float>) throws(AudioFileError) { try write(samples, unless: { false }) }

    /// Like `write`, but throws `.readerIsStuck` if a pipe accepts nothing for one second and `isAbandoned` returns
    /// true.
    public mutating func write(_ samples: Span<Float>, unless isAbandoned: () -> Bool) throws(AudioFileError) {
        precondition(!isClosed, "the file has been closed")
        if !file.hasBegun { try begin(unless: isAbandoned) }
        try lpcm?.write(samples, unless: isAbandoned)
        try flac?.write(samples)
        frameCount += FrameCount(samples.count / format.channelCount)
    }

    /// Waits until the audio so far is on the disk, where a power cut does not take it: after one, a WAV file plays at least
    /// that. A pipe and a device have nothing to wait for.
    public mutating func synchronize() throws(AudioFileError) { try file.synchronize() }

    /// Completes and closes the file, and waits until it is on the disk. Throws if the last bytes cannot be written: some disks report only now that they
    /// are full. A second call does nothing.
    public mutating func close() throws(AudioFileError) {
        guard !isClosed else { return }
        isClosed = true
        do throws(AudioFileError) {
            try lpcm?.end(marks)
            try flac?.end()
        } catch {
            try? file.close()
            throw error
        }
        try file.close()
    }

    private mutating func begin(unless isAbandoned: () -> Bool) throws(AudioFileError) {
        try file.begin()
        try lpcm?.begin(unless: isAbandoned)
        try flac?.begin(tags)
    }
}
