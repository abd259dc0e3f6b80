private import CSndFile
internal import Glibc
public import TenfourAudioCore

/// Reads audio from a file, a pipe or standard input, at its own rate and channel count.
///
/// Files are read by libsndfile (`sf_open_fd`, `sf_readf_float`): WAV, AIFF, FLAC, Ogg, MP3 and more. From a pipe, WAV
/// and raw samples are read as they arrive; other formats are first read to their end. For one thread at a time. Blocks
/// on the disk or the pipe, so it must not be used on an audio thread. After `init` only libsndfile may allocate.
@safe
public struct AudioFileReader: ~Copyable, AudioSource, @unchecked Sendable {
    public let format: LPCMFormat

    /// The number of frames at `format`'s rate; nil if a stream does not state it.
    public let frameCount: FrameCount?

    /// The supported channel counts.
    public static let channelCounts = 1...8
    /// The supported rates, in hertz.
    public static let rates = SampleRate.recorded

    /// libsndfile's handle; nil for a stream. Exactly one of `file` and `stream` is set.
    private let file: OpaquePointer?
    private var stream: LPCMInput?
    private let name: String
    /// The descriptor that `deinit` closes; nil if the caller closes it.
    private let owned: Int32?

    /// Opens a file or pipe; `-` is standard input. A file without a known header is refused unless `rawFormat` states
    /// the format of its samples.
    public init(path: String, rawFormat: RawFormat? = nil) throws(AudioFileError) {
        self.init(try OpenedAudio(path: path, rawFormat: rawFormat))
    }

    /// Reads an open file or pipe, which the caller closes. If it has no known header, its samples are read in
    /// `rawFormat`. `name` is for error messages.
    public init(
        fileDescriptor: Int32, name: String, rawFormat: RawFormat = RawFormat()
    ) throws(AudioFileError) {
        self.init(try OpenedAudio(Descriptor(number: fileDescriptor, name: name), rawFormat: rawFormat))
    }

    private init(_ opened: OpenedAudio) {
        unsafe file = opened.file
        stream = opened.stream
        format = opened.format
        frameCount = opened.frameCount
        name = opened.name
        owned = opened.owned
    }

    deinit {
        if let file = unsafe file { _ = unsafe sndfile.sf_close(file) }
        if let owned { close(owned) }
    }

    /// Skips up to `count` frames: in a file by `sf_seek`.
    public mutating func skip(_ count: FrameCount) throws(AudioFileError) -> FrameCount {
        if let file = unsafe file, let frameCount, count <= frameCount,
            unsafe sndfile.sf_seek(file, sf_count_t(count.rawValue), Int32(SEEK_CUR)) >= 0
        {
            return count
        }
        return try skipByReading(count)
    }

    public mutating func read(into samples: inout MutableSpan<Float>) throws(AudioFileError) -> FrameCount {
        guard let file = unsafe file else { return FrameCount(try stream?.read(into: &samples) ?? 0) }
        let requested = samples.count / format.channelCount
        let result = unsafe samples.withUnsafeMutableBufferPointer {
            unsafe sndfile.sf_readf_float(file, $0.baseAddress, sf_count_t(requested))
        }
        let frames = min(max(Int(result), 0), requested)
        // Throws only an error of the system. Damaged data ends the audio, so that a truncated file can be played up to
        // its end.
        if frames == 0, requested > 0, unsafe sndfile.sf_error(file) == Int32(SF_ERR_SYSTEM) {
            throw AudioFileError(errno: errno, in: "sf_readf_float", name: name)
        }
        for index in 0..<frames * format.channelCount where !samples[index].isFinite { samples[index] = 0 }
        return FrameCount(frames)
    }
}
