import Glibc
import TenfourHTTPSource
import TenfourMediaSource
import TestSupport

extension ByteSource {
    /// Reads `count` bytes from `offset` on; fewer at the end.
    func bytes(from offset: Int, _ count: Int = .max) throws(ByteSourceError) -> [UInt8] {
        var bytes: [UInt8] = []
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 1)
        defer { unsafe room.deallocate() }
        while bytes.count < count {
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<min(room.count, count - bytes.count)])
            let got = try unsafe read(at: offset + bytes.count, into: part)
            if got == 0 { break }
            unsafe bytes.append(contentsOf: part[..<got])
        }
        return bytes
    }

    /// Reads all bytes.
    func all() throws(ByteSourceError) -> [UInt8] { try bytes(from: 0) }

    /// Returns the sentence of a read's error; nil if it succeeds.
    func refusal() -> String? {
        guard let error = refusedRead() else { return nil }
        guard case .failed(let sentence, _) = error else { return "\(error)" }
        return sentence
    }

    /// Returns the error of a read; nil if it succeeds.
    func refusedRead() -> ByteSourceError? {
        do throws(ByteSourceError) {
            _ = try bytes(from: 0, 1)
            return nil
        } catch {
            return error
        }
    }

    func wait(_ time: Duration = .seconds(60), until isThere: (ByteSourceState) -> Bool) -> Bool {
        let deadline = ContinuousClock.now + time
        while !isThere(state) {
            if ContinuousClock.now > deadline { return false }
            usleep(2_000)
        }
        return true
    }
}

extension SoundServer {
    /// Starts a server for a folder that contains `song`.
    convenience init(_ folder: Folder, song: [UInt8]) throws {
        folder.write(song, to: "song")
        try self.init(folder)
    }
}

/// Returns bytes whose values depend on their positions.
func sound(_ byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 11) }
}
