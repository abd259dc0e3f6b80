internal import Glibc

/// The reason why a file or pipe cannot be read or written.
public struct AudioFileError: Error, Hashable, Sendable {
    /// The path as it was given, "standard input" or "standard output".
    public var name: String
    public var reason: Reason

    public enum Reason: Hashable, Sendable {
        case notFound
        case noSuchDirectory
        case notPermitted
        case isDirectory
        case isEmpty
        /// The file is not an audio file. The value is a message of libsndfile or of this module.
        case isNotSound(String)
        /// libsndfile, which is loaded when a file first needs it, is not installed. The value is the system's message.
        case libraryIsMissing(String)
        /// The channel count is not in `AudioFileReader.channelCounts`.
        case unsupportedChannelCount(Int)
        /// The sample rate, in hertz, is not in `AudioFileReader.rates`.
        case unsupportedRate(Int)
        /// A WAV or FLAC file cannot store samples of this coding.
        case unsupportedCoding(SampleCoding)
        /// The file's extension (the value) belongs to another format, but only WAV files can be written.
        case namedAsAnother(String)
        /// libsndfile cannot write such a file. The value is its message.
        case isNotWritten(String)
        case diskIsFull
        /// The audio does not fit into a WAV file, whose sizes have 32 bits.
        case isTooLong
        /// The program that read the pipe has ended. Reported only if SIGPIPE is ignored.
        case readerIsGone
        /// The program or terminal that reads the pipe has stopped reading.
        case readerIsStuck
        /// Another error of a C function.
        case failed(call: String, code: Int32)
    }

    public init(_ reason: Reason, name: String) {
        self.reason = reason
        self.name = name
    }

    /// Converts `code`, the `errno` after `call`, to a reason.
    internal init(errno code: Int32, in call: String, name: String, isWriting: Bool = false) {
        self.name = name
        reason =
            switch code {
            case ENOENT, ENOTDIR: isWriting ? .noSuchDirectory : .notFound
            case EACCES, EPERM, EROFS: .notPermitted
            case EISDIR: .isDirectory
            case ENOSPC, EDQUOT: .diskIsFull
            case EFBIG: .isTooLong
            case EPIPE: .readerIsGone
            default: .failed(call: call, code: code)
            }
    }
}

extension AudioFileError: CustomStringConvertible {
    /// A sentence for users, with the remedy.
    public var description: String {
        switch reason {
        case .notFound: "\(name) does not exist; check the spelling, or give - for standard input"
        case .noSuchDirectory:
            "\(name) cannot be created because its directory does not exist; create the directory first"
        case .notPermitted: "\(name) cannot be opened by this user; change its permissions or choose another file"
        case .isDirectory: "\(name) is a directory; name a file in it"
        case .isEmpty: "\(name) is empty; check the program that should have written it"
        case .isNotSound(let words):
            "\(name) is not a sound file that can be read (WAV, AIFF, FLAC, Ogg, MP3 …); if it contains raw samples, give their format. "
                + "The reason: \(words)"
        case .libraryIsMissing(let words):
            "\(name) needs libsndfile, which cannot be loaded (\(words)); run `apt-get install libsndfile1`"
        case .unsupportedChannelCount(let count):
            "\(name) has \(count) channels; convert it to 1…\(AudioFileReader.channelCounts.upperBound) first"
        case .unsupportedRate(let hertz):
            "\(name) has a sample rate of \(hertz) Hz; convert it to "
                + "\(AudioFileReader.rates.lowerBound)…\(AudioFileReader.rates.upperBound) Hz first"
        case .unsupportedCoding(let coding):
            "\(name) cannot hold \(coding.rawValue) samples; choose S16_LE or S24_3LE, or for WAV S32_LE or FLOAT_LE"
        case .namedAsAnother(let ending):
            "\(name) does not end in .wav, and only WAV files are written; choose a name that ends in .wav, "
                + "and convert the file to \(ending.uppercased()) with ffmpeg or sox"
        case .isNotWritten(let words):
            "\(name) cannot be written in this format; choose another rate, or WAV. The reason: \(words)"
        case .diskIsFull:
            "\(name) cannot grow because the disk is full; free disk space (the part written so far can be played)"
        case .isTooLong: "\(name) has reached the 4 GiB limit of WAV files; begin another file"
        case .readerIsGone:
            "\(name) leads to a program that has ended, so nothing more can be written; start that program again"
        case .readerIsStuck:
            "\(name) leads to a program that has stopped reading, so the end of the audio is lost; end that program as well"
        case .failed(_, let code):
            unsafe "\(name) cannot be read or written: \(String(cString: strerror(code))); check the disk, or choose another file"
        }
    }
}
