import Dispatch
import Glibc
import TenfourHTTPSource
import TenfourMediaSource
import TestSupport
import Testing

@Suite(.onItsOwnThread) struct HTTPByteSourceTests {
    let folder = Folder()
    let file = Self.sound
    let server: SoundServer

    private static let sound = HTTPSourceTests.sound(1_000_000)

    init() throws { server = try SoundServer(folder, song: file) }

    @Test func aFileComesWhole() throws {
        let download = try HTTPByteSource(server.address("song"))
        #expect(try download.all() == file)
        for _ in 0..<60_000 where download.state.phase != .ended { usleep(1_000) }
        let state = download.state
        #expect(state.phase == .ended && state.byteCount == file.count)
        #expect(state.isSeekable && !state.isLive && state.contentType == "audio/mpeg")
        #expect(server.ranges == ["0-"])
    }

    @Test(arguments: ["norange", "chunked", "close", "chunked/notag", "late=0.3", "slow=4000000", "redirect=3"])
    func howeverItIsServed(how: String) throws {
        let download = try HTTPByteSource(server.address("song", how))
        #expect(try download.all() == file)
        #expect(download.state.byteCount == file.count)
    }

    @Test func recentlyReadBytesAreStillHeld() throws {
        let download = try HTTPByteSource(server.address("song"))
        _ = try download.bytes(from: 0, 400_000)
        #expect(try download.bytes(from: 100_000, 1_000) == Array(file[100_000..<101_000]))
        #expect(server.ranges.count == 1)
    }

    @Test func elsewhereCostsOneRequest() throws {
        // The server is so slow that the transfer cannot reach the offset before it is requested.
        let download = try HTTPByteSource(
            server.address("song", "slow=50000"), limits: BufferLimits(ahead: 65_536, behind: 0))
        _ = try download.bytes(from: 0, 1_000)
        #expect(try download.bytes(from: 900_000, 1_000) == Array(file[900_000..<901_000]))
        #expect(try download.bytes(from: 300_000, 1_000) == Array(file[300_000..<301_000]))
        #expect(server.ranges == ["0-", "900000-", "300000-"])
    }

    @Test func aLittleAheadIsReadOn() throws {
        let download = try HTTPByteSource(server.address("song"), limits: BufferLimits(ahead: 65_536, behind: 0))
        _ = try download.bytes(from: 0, 1_000)
        #expect(download.wait { $0.phase == .full })
        #expect(try download.bytes(from: 250_000, 1_000) == Array(file[250_000..<251_000]))
        #expect(server.ranges == ["0-"])
    }

    /// The end of a range is the end of the source, whether the server has range requests or not.
    @Test(arguments: [[], ["norange"], ["chunked"], ["cutonce=1000"]]) func aRangeIsFetchedAndNoMore(how: [String])
        throws
    {
        let address = server.address((how + ["song"]).joined(separator: "/"))
        let download = try HTTPByteSource(address, range: 300_000..<400_000)
        #expect(try download.bytes(from: 300_000, 200_000) == Array(file[300_000..<400_000]))
        #expect(try download.bytes(from: 400_000, 1).isEmpty)
        #expect(download.wait { $0.phase == .ended })
        #expect(download.state.byteCount == 400_000 && download.state.held == 300_000..<400_000)
        #expect(server.ranges.first == "300000-399999")
        let behind = try HTTPByteSource(server.address("song"), range: 2_000_000..<2_000_010)
        #expect(try behind.bytes(from: 2_000_000, 10).isEmpty)
        let beyond = try HTTPByteSource(server.address("song"), range: 999_990..<2_000_000)
        #expect(try beyond.bytes(from: 999_990, 100) == Array(file[999_990...]))
    }

    @Test func withoutRangesItIsReadAgainFromTheFront() throws {
        let download = try HTTPByteSource(
            server.address("song", "norange"), limits: BufferLimits(ahead: 65_536, behind: 0))
        #expect(try download.bytes(from: 900_000, 1_000) == Array(file[900_000..<901_000]))
        #expect(try download.bytes(from: 5, 1_000) == Array(file[5..<1_005]))
        #expect(!download.state.isSeekable && download.state.isRepeatable)
        #expect(server.ranges == ["0-", ""])
    }

    @Test func behindTheEndThereIsNothing() throws {
        let download = try HTTPByteSource(server.address("song"))
        _ = try download.bytes(from: 0, 1)
        #expect(try download.bytes(from: 1_000_000, 1).isEmpty)
        #expect(try download.bytes(from: .max - 1, 1).isEmpty)
    }

    @Test func nothingIsAheadOfTheReaderBeyondTheLimit() throws {
        let download = try HTTPByteSource(server.address("song"), limits: BufferLimits(ahead: 100_000, behind: 0))
        #expect(download.wait { $0.phase == .full })
        usleep(100_000)
        #expect(download.state.available.count < 100_000 + 64_000)
        download.limits = BufferLimits(ahead: 300_000, behind: 0)
        #expect(download.wait { $0.available.count >= 300_000 })
        download.limits = .all
        #expect(download.wait { $0.phase == .ended })
        #expect(try download.all() == file)
    }

    @Test func everythingIsKeptWhereThatIsWanted() throws {
        let download = try HTTPByteSource(server.address("song"), limits: .all)
        #expect(download.wait { $0.phase == .ended })
        #expect(try download.bytes(from: 999_000) == Array(file[999_000...]))
        #expect(try download.all() == file)
        #expect(server.ranges == ["0-"])
    }

    @Test func aStationIsNotKeptForEver() throws {
        folder.write([UInt8](repeating: 7, count: 20_000_000), to: "long")
        let download = try HTTPByteSource(server.address("long", "icy=1000000"), limits: .all)
        #expect(download.wait { $0.phase == .full })
        #expect(download.state.available.count < 9 << 20)
        download.stop()
    }

    @Test func anEmptyFileHasNoBytes() throws {
        folder.write([], to: "empty")
        let download = try HTTPByteSource(server.address("empty"))
        #expect(try download.all().isEmpty)
        #expect(server.ranges == ["0-", ""])
    }

    @Test func theNextComesOverTheSameConnection() throws {
        let loop = try HTTPLoop()
        defer { loop.stop() }
        let first = try HTTPByteSource(server.address("song"), on: loop)
        #expect(try first.all() == file)
        let second = try HTTPByteSource(server.address("song", "norange"), on: loop)
        #expect(try second.all() == file)
        #expect(server.requests.map { $0[3] } == ["1", "1"])
    }

    @Test func aWaitingReaderIsNotified() throws {
        let download = try HTTPByteSource(
            server.address("song", "stall=1000"), options: HTTPOptions(timeout: .seconds(600)))
        _ = try download.bytes(from: 0, 1_000)
        DispatchQueue(label: "interrupter").async {
            usleep(100_000)
            download.interrupt()
        }
        #expect(throws: ByteSourceError.interrupted) { try download.bytes(from: 1_000, 1) }
        #expect(throws: ByteSourceError.interrupted) { try download.bytes(from: 0, 1) }
        download.resume()
        #expect(try download.bytes(from: 0, 1_000) == Array(file[..<1_000]))
        download.stop()
        #expect(throws: ByteSourceError.interrupted) { try download.bytes(from: 0, 1) }
    }

    @Test func aReaderThatWaitsForAStoppedLoopIsNotified() throws {
        let loop = try HTTPLoop()
        let download = try HTTPByteSource(
            server.address("song", "stall=1000"), options: HTTPOptions(timeout: .seconds(600)), on: loop)
        _ = try download.bytes(from: 0, 1_000)
        DispatchQueue(label: "stopper").async {
            usleep(100_000)
            loop.stop()
        }
        #expect(throws: ByteSourceError.interrupted) { try download.bytes(from: 1_000, 1) }
        let late = try HTTPByteSource(server.address("song"), on: loop)
        #expect(throws: ByteSourceError.interrupted) { try late.all() }
    }

    @Test func requestsSayWhatTheyShould() throws {
        let options = HTTPOptions(headers: ["X-Key: 7", "X-Bad: 1\r\nX-Worse: 2"], userAgent: "test/1")
        let download = try HTTPByteSource(server.address("song"), options: options)
        _ = try download.bytes(from: 0, 1)
        let said = server.requests[0].joined(separator: " ")
        #expect(said.contains("X-Key=7") && said.contains("User-Agent=test/1") && said.contains("Icy-MetaData=1"))
        #expect(said.contains("Accept-Encoding=identity"))
        #expect(!said.contains("Worse") && !said.contains("Cookie"))
    }
}
