import Glibc
import TenfourAudioCore
import TestSupport
import Testing

@testable import tenfour

/// A named pipe into which nobody writes.
@Suite(.onItsOwnThread) struct NamedPipeTests {
    private let folder = Folder()
    private let start = Instant.start

    private func makePipe() -> String {
        let path = folder("pipe")
        #expect(unsafe mkfifo(path, 0o600) == 0)
        return path
    }

    @Test func aMissingWriterIsReportedOnce() {
        let path = makePipe()
        guard var pipe = NamedPipe(path, at: start) else { return #expect(Bool(false), "no pipe") }
        let times: [Duration] = [.zero, .milliseconds(999), .seconds(1), .seconds(9)]
        var reports: [String?] = []
        for time in times { reports.append(pipe.report(at: start + time)) }
        #expect(reports == [nil, nil, "waiting for a program that writes into \(path)", nil])
    }

    @Test func aSilentWriterAndBytesThatWereLeftAreNotReported() {
        let path = makePipe()
        guard var pipe = NamedPipe(path, at: start) else { return #expect(Bool(false), "no pipe") }
        var hasWriter = [pipe.hasWriter]
        let writer = unsafe open(path, O_WRONLY | O_CLOEXEC)
        hasWriter.append(pipe.hasWriter)
        #expect(unsafe write(writer, "ab", 2) == 2)
        close(writer)
        hasWriter.append(pipe.hasWriter)
        let report = pipe.report(at: start + .seconds(2))
        #expect(report == nil)
        let reader = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        var bytes: [UInt8] = [0, 0, 0]
        #expect(unsafe read(reader, &bytes, 3) == 2)
        close(reader)
        hasWriter.append(pipe.hasWriter)
        #expect(hasWriter == [false, true, true, false])
    }

    @Test func otherFilesAreNoPipes() {
        folder.write([1], to: "a.wav")
        for path in [folder("a.wav"), folder("none"), folder.path, "-"] {
            let isPipe = NamedPipe(path, at: start) != nil
            #expect(!isPipe, "\(path)")
        }
    }

    @Test func plotEndsWithOneSignal() throws {
        let path = makePipe()
        let plot = try Program("tenfour", ["plot", path])
        defer { plot.send(SIGKILL) }
        #expect(plot.wait(.seconds(30)) { plot.opened(path) })
        plot.send(SIGINT)
        #expect(plot.wait(.seconds(10)) == .signal(SIGINT))
    }

    @Test func plotReadsWhatIsWrittenLater() throws {
        let path = makePipe()
        let plot = try Program("tenfour", ["plot", "--json", path])
        defer { plot.send(SIGKILL) }
        #expect(plot.wait(.seconds(30)) { plot.opened(path) })
        folder.write(Recording(channels: [[Float](repeating: 0.5, count: 48_000)]).wav(), to: "a.wav")
        #expect(try Program.run("cp", [folder("a.wav"), path]).end == .code(0))
        #expect(plot.wait(.seconds(30)) == .code(0))
        #expect(plot.outputText.contains("\"duration_s\": 1"), "\(plot.outputText.prefix(200))")
    }
}

extension Program {
    /// Whether the program has opened the file at `path`.
    fileprivate func opened(_ path: String) -> Bool {
        (0..<32).contains { number in
            var target = [UInt8](repeating: 0, count: 4_096)
            let link = "/proc/\(processID)/fd/\(number)"
            let count = unsafe target.withUnsafeMutableBytes { room in
                unsafe readlink(link, room.baseAddress!.assumingMemoryBound(to: CChar.self), room.count)
            }
            return count > 0 && String(decoding: target.prefix(count), as: UTF8.self) == path
        }
    }
}
