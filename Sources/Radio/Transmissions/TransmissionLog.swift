internal import Glibc
internal import TenfourAudioCore
internal import TenfourOggOpus

/// Reads the recordings of a directory: who talked when, for how long, and how well it was received.
///
/// Files are read without trust: of each only its headers and its last page, and no link is followed. It may block.
public final class TransmissionLog {
    private let path: String
    private let descriptor: Int32

    public struct Entry: Hashable, Sendable {
        /// The recording's place in the directory, oldest first, counted from 1. It changes when older ones are removed.
        public var number: Int
        public var transmission: Transmission
        /// The file's path.
        public var path: String
        /// Whether the file has its end. It has none while it is being written, and if it was cut off.
        public var isComplete: Bool

        public init(number: Int, transmission: Transmission, path: String, isComplete: Bool) {
            self.number = number
            self.transmission = transmission
            self.path = path
            self.isComplete = isComplete
        }
    }

    /// The number of bytes that are read for the headers, which have at most 2 KB in a recording of ours.
    private static let headByteCount = 16 << 10
    /// The number of bytes at the end in which nearly every file has its last page.
    private static let tailByteCount = 8 << 10

    /// Opens a directory. Throws if it cannot be read.
    public init(_ path: String) throws(RecordingError) {
        descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RecordingError(reading: path, errno) }
        self.path = path
    }

    deinit { close(descriptor) }

    /// Returns all recordings, oldest first. Files that are not Ogg Opus are left out.
    public func entries() -> [Entry] {
        names().enumerated().compactMap { index, name in entry(name, number: index + 1) }
    }

    /// Returns the recordings with these numbers; what does not exist is left out.
    public func entries(_ numbers: some Sequence<Int>) -> [Entry] {
        let names = names()
        return numbers.compactMap { number in
            names.indices.contains(number - 1) ? entry(names[number - 1], number: number) : nil
        }
    }

    /// Returns the recordings in files with these names, in the order of the names.
    public func entries(named wanted: [String]) -> [Entry] {
        let names = names()
        return wanted.compactMap { name in names.firstIndex(of: name).flatMap { entry(name, number: $0 + 1) } }
    }

    /// The number of files with names of recordings.
    public var count: Int { names().count }

    private func names() -> [String] {
        RecordingDirectory.names(in: descriptor).compactMap { name in
            RecordingName(parsing: name).map { (start: $0.start, name: name) }
        }.sorted(by: RecordingName.areInOrder).map(\.name)
    }

    /// Reads a file; nil if it is not a recording that can be read.
    private func entry(_ name: String, number: Int) -> Entry? {
        // A pipe with such a name must not block.
        let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0, let parsed = RecordingName(parsing: name) else { return nil }
        defer { close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard var summary = try? OggOpusSummary(parsing: Self.bytes(of: file, from: 0, Self.headByteCount).span) else {
            return nil
        }
        let byteCount = Int(status.st_size)
        for length in [Self.tailByteCount, OggOpusSummary.longestPage] where summary.end == nil {
            summary.readEnd(Self.bytes(of: file, from: max(byteCount - length, 0), length).span)
        }
        return Entry(
            number: number, transmission: Self.transmission(summary, parsed), path: "\(path)/\(name)",
            isComplete: summary.isComplete)
    }

    private static func transmission(_ summary: OggOpusSummary, _ name: RecordingName) -> Transmission {
        let comments = summary.comments
        func number(_ comment: String, in range: ClosedRange<Double>) -> Double? {
            let text = comments.value(of: comment)?.split(separator: " ").first.map(String.init)
            return text.flatMap(Double.init).flatMap { range.contains($0) ? $0 : nil }
        }
        return Transmission(
            start: name.start, channel: comments.value(of: "CHANNEL") ?? String(fromPeer: name.channel),
            talker: comments.value(of: "TALKER") ?? String(fromPeer: name.talker), duration: summary.duration,
            lossShare: number("LOSS", in: 0...100).map { $0 / 100 }, score: number("SCORE", in: 1...4.5))
    }

    /// Reads up to `count` bytes from `offset`; fewer at the end and after an error.
    private static func bytes(of file: Int32, from offset: Int, _ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = unsafe pread(file, buffer.baseAddress! + filled, count - filled, off_t(offset + filled))
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { break }
                filled += got
            }
        }
    }
}
