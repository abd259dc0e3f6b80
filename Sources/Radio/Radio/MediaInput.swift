internal import Glibc
internal import TenfourAudioCore
internal import TenfourMediaSource

/// A file of any format that is sent: the reader that plays it, at its own rate and with at most two channels.
///
/// For one thread at a time.
final class MediaInput: AudioSource, @unchecked Sendable {
    let format: LPCMFormat
    private let reader: any MediaReader
    private let name: String

    /// Opens the regular file at `path`. Returns nil if there is none, since pipes are read as they arrive, and if the file
    /// is left to libsndfile: where its format is unknown, or FFmpeg is missing. Throws a sentence if its audio cannot be
    /// decoded. The C function is `stat`.
    init?(path: String) throws(RadioError) {
        var status = stat()
        guard path != "-", unsafe path.withPath({ unsafe stat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFREG
        else {
            return nil
        }
        name = String(fromPeer: path)
        do throws(ReaderError) {
            let file: any ByteSource
            do throws(ByteSourceError) { file = try FileByteSource.open(path) } catch {
                throw .demuxer(.byteSource(error))
            }
            let first = try openReader(file, format: nil)
            // Its layout tells how more channels are mixed down.
            reader =
                first.format.channelCount <= 2
                ? first : try openReader(file, format: LPCMFormat(rate: first.format.rate, channelCount: 2))
        } catch  where [.libraryMissing, .unknownFormat].contains(error.kind) {
            return nil
        } catch {
            throw RadioError(.unavailable, StreamError.read(error).sentence(about: name))
        }
        format = reader.format
    }

    func read(into samples: inout MutableSpan<Float>) throws(RadioError) -> FrameCount {
        do throws(ReaderError) { return try reader.read(into: &samples) } catch {
            throw RadioError(.failure, "\(name): \(error)")
        }
    }
}
