import Foundation
import TenfourMediaSource
import TenfourPlayer

/// Bytes in memory.
final class MemorySource: ByteSource {
    let bytes: [UInt8]
    init(_ bytes: [UInt8]) { self.bytes = bytes }
    var state: ByteSourceState {
        ByteSourceState(phase: .ended, byteCount: bytes.count, available: 0..<bytes.count, isSeekable: true)
    }
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let part = bytes.dropFirst(max(offset, 0)).prefix(buffer.count)
        buffer.copyBytes(from: part)
        return part.count
    }
}

// own-source song.mp3 song.wav
let bytes = [UInt8](try Data(contentsOf: URL(filePath: CommandLine.arguments[1])))
var configuration = StreamerConfiguration()
configuration.output = .file(CommandLine.arguments[2])
let streamer = try Streamer(configuration)
streamer.open(items: [QueueItem(named: "memory") { MemorySource(bytes) }])
streamer.play()
try streamer.wait()
