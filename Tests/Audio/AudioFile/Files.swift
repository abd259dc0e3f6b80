import Glibc
import TenfourAudioCore
import TenfourAudioFile
import TestSupport

/// A temporary folder, removed when this object is released.
final class TemporaryFolder: Sendable {
    let path: String

    init() {
        var name = Array("\(Folder.temporary)/tenfour-tests-XXXXXX".utf8CString)
        unsafe precondition(mkdtemp(&name) != nil, "no temporary folder")
        path = String(decoding: name.dropLast().map(UInt8.init), as: UTF8.self)
    }

    deinit {
        guard let entries = unsafe opendir(path) else { return }
        while let entry = unsafe readdir(entries) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            _ = unsafe unlink("\(path)/\(name)")
        }
        unsafe closedir(entries)
        unsafe rmdir(path)
    }

    /// Returns the path of a file, which need not exist.
    func file(_ name: String) -> String { "\(path)/\(name)" }

    /// Writes a file with `bytes` and returns its path.
    func file(_ name: String, of bytes: [UInt8]) -> String {
        let descriptor = unsafe open(file(name), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        writeAll(bytes, to: descriptor)
        close(descriptor)
        return file(name)
    }
}

func bytes(ofFile path: String) -> [UInt8] {
    let descriptor = unsafe open(path, O_RDONLY)
    defer { close(descriptor) }
    return readAll(from: descriptor)
}

func readAll(from descriptor: Int32) -> [UInt8] {
    var all: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
        let count = unsafe read(descriptor, &part, part.count)
        guard count > 0 else { return all }
        all += part[..<count]
    }
}

func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
    var done = 0
    while done < bytes.count {
        let count = unsafe bytes.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress! + done, $0.count - done) }
        precondition(count > 0, "cannot write")
        done += count
    }
}

/// A pipe that contains `bytes` (at most 64 KiB). Its writing end is closed at once unless `isOpen`. Both ends are
/// closed with this value.
struct Pipe: ~Copyable {
    let output: Int32
    private let input: Int32?

    init(_ bytes: [UInt8] = [], open isOpen: Bool = false) {
        var ends: [Int32] = [0, 0]
        unsafe precondition(pipe(&ends) == 0)
        output = ends[0]
        writeAll(bytes, to: ends[1])
        if isOpen {
            input = ends[1]
        } else {
            close(ends[1])
            input = nil
        }
    }

    func send(_ bytes: [UInt8]) { writeAll(bytes, to: input!) }

    deinit {
        close(output)
        if let input { close(input) }
    }
}

/// Returns the descriptor of an unlinked file with `bytes`, positioned at its start; the caller closes it.
func namelessFile(_ bytes: [UInt8] = []) -> Int32 {
    var name = Array("\(Folder.temporary)/tenfour-tests-XXXXXX".utf8CString)
    let descriptor = unsafe mkstemp(&name)
    precondition(descriptor >= 0, "no temporary file")
    unsafe unlink(name)
    writeAll(bytes, to: descriptor)
    lseek(descriptor, 0, SEEK_SET)
    return descriptor
}

extension AudioFileReader {
    /// Reads at most `frames` frames.
    mutating func frames(_ frames: Int) throws(AudioFileError) -> [Float] {
        var samples = [Float](repeating: 0, count: frames * format.channelCount)
        var span = samples.mutableSpan
        let count = try read(into: &span)
        return Array(samples[..<(count.rawValue * format.channelCount)])
    }

    /// Reads all samples in steps of 960 frames.
    mutating func all() throws(AudioFileError) -> [Float] {
        var sound: [Float] = []
        while true {
            let next = try frames(960)
            if next.isEmpty { return sound }
            sound += next
        }
    }
}

/// Returns a sine at 0.5 of full scale, with a pitch of its own for each channel.
func tone(_ frameCount: Int, in format: LPCMFormat = .mono) -> [Float] {
    (0..<frameCount * format.channelCount).map {
        let channel = Double($0 % format.channelCount)
        return Float(0.5 * sin(2 * Double.pi * (440 + 110 * channel) * Double($0 / format.channelCount) / 48_000))
    }
}

func largestDifference(_ one: [Float], _ other: [Float]) -> Float {
    guard one.count == other.count else { return .infinity }
    return zip(one, other).map { abs($0 - $1) }.max() ?? 0
}
