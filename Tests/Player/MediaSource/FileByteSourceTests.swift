import Dispatch
import Glibc
import TenfourMediaSource
import TestSupport
import Testing

@Suite(.onItsOwnThread) struct FileByteSourceTests {
    let folder = Folder()

    private func bytes(_ byteSource: any ByteSource, from offset: Int, _ count: Int) throws(ByteSourceError) -> [UInt8]
    {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { unsafe room.deallocate() }
        let got = try unsafe byteSource.read(at: offset, into: room)
        return unsafe Array(room[..<got])
    }

    @Test func aFileIsReadWhereItLies() throws {
        folder.write("0123456789", to: "file")
        let byteSource = try FileByteSource.open(folder("file"))
        #expect(try bytes(byteSource, from: 7, 10) == Array("789".utf8))
        #expect(try bytes(byteSource, from: 0, 2) == Array("01".utf8))
        #expect(try bytes(byteSource, from: 10, 2).isEmpty)
        #expect(try bytes(byteSource, from: .max, 2).isEmpty)
        #expect(byteSource.state.byteCount == 10 && byteSource.state.isSeekable && byteSource.state.phase == .ended)
        byteSource.interrupt()
        #expect(throws: ByteSourceError.interrupted) { try bytes(byteSource, from: 0, 1) }
        byteSource.resume()
        #expect(try bytes(byteSource, from: 9, 1) == Array("9".utf8))
    }

    @Test func unreadableFilesAreReported() {
        func refusal(_ path: String) -> String {
            do throws(ByteSourceError) {
                _ = try FileByteSource.open(path)
                return ""
            } catch { return "\(error)" }
        }
        let missing = #expect(throws: ByteSourceError.self) { _ = try FileByteSource.open(folder("none")) }
        #expect(missing?.kind == .notFound)
        let folderItself = #expect(throws: ByteSourceError.self) { _ = try FileByteSource.open(folder.path) }
        #expect(folderItself?.kind == .other)
        #expect(refusal(folder("\u{1B}none")).contains("there is no file"))
        #expect(!refusal(folder("\u{1B}none")).contains("\u{1B}"))
        #expect(refusal(folder.path).contains("is a directory"))
        #expect(refusal("").contains("there is no file"))
    }

    @Test func aPipeIsReadOnceAndKeepsALittle() throws {
        let path = folder("pipe")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        let sound = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        DispatchQueue(label: "writer").async {
            let file = unsafe open(path, O_WRONLY | O_CLOEXEC)
            var start = 0
            while start < sound.count {
                let count = unsafe sound.withUnsafeBytes {
                    unsafe write(file, $0.baseAddress! + start, $0.count - start)
                }
                if count <= 0 { break }
                start += count
            }
            close(file)
        }
        let byteSource = try FileByteSource.open(path, limits: BufferLimits(ahead: 65_536, behind: 100_000))
        #expect(byteSource.state.isLive && !byteSource.state.isSeekable && byteSource.state.byteCount == nil)
        #expect(try bytes(byteSource, from: 200_000, 1)[0] == sound[200_000])
        #expect(try bytes(byteSource, from: 110_000, 1)[0] == sound[110_000])
        #expect(throws: ByteSourceError.self) { try bytes(byteSource, from: 5, 1) }
        #expect(try bytes(byteSource, from: 299_999, 9) == [sound[299_999]])
        #expect(try bytes(byteSource, from: 300_000, 1).isEmpty)
        #expect(byteSource.state.phase == .ended && byteSource.state.byteCount == 300_000)
    }

    @Test func aPipeTellsBeforeItIsReadThatNoMoreComes() throws {
        let pipe = Pipe()
        let byteSource = try FileByteSource.open("/proc/self/fd/\(pipe.output)")
        #expect(unsafe write(pipe.input, "0123456789", 10) == 10)
        #expect(byteSource.state.phase == .receiving && byteSource.state.available == 0..<10)
        pipe.closeInput()
        #expect(byteSource.state.phase == .ended && byteSource.state.available == 0..<10)
        #expect(try bytes(byteSource, from: 0, 20).count == 10)
        #expect(try bytes(byteSource, from: 10, 20).isEmpty)
    }

    @Test func aPipeThatIsFullSaysSo() throws {
        let pipe = Pipe()
        let byteSource = try FileByteSource.open("/proc/self/fd/\(pipe.output)", limits: BufferLimits(ahead: 65_536))
        // A piece is so large that no two fit into one page of the pipe.
        let piece = [UInt8](repeating: 1, count: 2_100)
        #expect(fcntl(pipe.input, F_SETFL, O_NONBLOCK) == 0)
        while unsafe write(pipe.input, piece, piece.count) == piece.count {}
        #expect(byteSource.state.phase == .full)
    }

    @Test func aSilentPipeHoldsUpNobodyWhoIsInterrupted() throws {
        let pipe = Pipe()
        let byteSource = try FileByteSource.open("/proc/self/fd/\(pipe.output)")
        DispatchQueue(label: "interrupter").async {
            usleep(100_000)
            byteSource.interrupt()
        }
        #expect(throws: ByteSourceError.interrupted) { try bytes(byteSource, from: 0, 1) }
        byteSource.resume()
        _ = unsafe write(pipe.input, "x", 1)
        #expect(try bytes(byteSource, from: 0, 1) == Array("x".utf8))
        byteSource.stop()
        #expect(throws: ByteSourceError.interrupted) { try bytes(byteSource, from: 0, 1) }
    }

    @Test func aHungryPipeTakesWhatIsWrittenBeforeItIsRead() throws {
        let pipe = Pipe()
        let byteSource = try FileByteSource.open("/proc/self/fd/\(pipe.output)", limits: BufferLimits(ahead: 1 << 20))
        let silence = [UInt8](repeating: 1, count: 500_000)
        _ = fcntl(pipe.input, F_SETFL, O_NONBLOCK)
        let taken = unsafe silence.withUnsafeBytes { unsafe write(pipe.input, $0.baseAddress, $0.count) }
        #expect(taken == 500_000)
        #expect(byteSource.state.available == 0..<500_000)
    }
}
