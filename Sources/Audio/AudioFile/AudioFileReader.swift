private import CSndFile
internal import Glibc
public import TenfourAudioCore

/// Sound from a file, a pipe or standard input, in its own rate and channels.
///
/// Files are read by libsndfile (`sf_open_fd`, `sf_readf_float`): WAV, AIFF, FLAC, Ogg, MP3 and more. From a pipe, WAV and raw
/// samples are played as they come; other formats are first read to their end. Belongs to one thread at a time. Waits for
/// the disk or the pipe, so not an audio thread; after `init` it allocates nothing of its own.
@safe
public struct AudioFileReader: ~Copyable, AudioSource, @unchecked Sendable {
    public let format: LPCMFormat

    /// At `format`'s rate; nil where a stream does not know.
    public let frameCount: FrameCount?

    /// What is taken as a sensible file.
    public static let channelCounts = 1...8
    /// In hertz.
    public static let rates = SampleRate.recorded

    /// One of the two is there.
    private let file: OpaquePointer?
    private var stream: LPCMInput?
    private let name: String
    /// To be closed at the end.
    private let owned: Int32?

    /// `-` is standard input. A file or pipe without a header that is known is refused unless `rawFormat` says how to take it.
    public init(path: String, rawFormat: RawFormat? = nil) throws(AudioFileError) {
        self.init(try OpenedAudio(path: path, rawFormat: rawFormat))
    }

    /// An open file or pipe, which stays the caller's to close. What has no header is taken as `rawFormat`. `name` is for
    /// errors.
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
        if let file = unsafe file { unsafe sndfile.sf_close(file) }
        if let owned { close(owned) }
    }

    public mutating func read(into samples: inout MutableSpan<Float>) throws(AudioFileError) -> FrameCount {
        guard let file = unsafe file else { return FrameCount(try stream?.read(into: &samples) ?? 0) }
        let wanted = samples.count / format.channelCount
        let result = unsafe samples.withUnsafeMutableBufferPointer {
            unsafe sndfile.sf_readf_float(file, $0.baseAddress, sf_count_t(wanted))
        }
        let frames = min(max(Int(result), 0), wanted)
        // Other damage is where the sound ends: a cut file plays as far as it goes.
        if frames == 0, wanted > 0, unsafe sndfile.sf_error(file) == Int32(SF_ERR_SYSTEM) {
            throw AudioFileError(errno: errno, in: "sf_readf_float", name: name)
        }
        for index in 0..<frames * format.channelCount where !samples[index].isFinite { samples[index] = 0 }
        return FrameCount(frames)
    }
}
