import Glibc
import TenfourMediaSource
import TestSupport
import Testing

@testable import TenfourHTTPSource

/// A connection that has worked is retried.
@Suite(.onItsOwnThread) struct BrokenConnectionTests {
    let folder = Folder()
    let file = Self.sound
    let server: SoundServer

    private static let sound = HTTPSourceTests.sound(300_000)

    init() throws { server = try SoundServer(folder, song: file) }

    @Test func aFileGoesOnWhereItBrokeOff() throws {
        let download = try HTTPByteSource(server.address("song", "cut=100000"))
        #expect(try download.all() == file)
        #expect(server.ranges == ["0-", "100000-", "200000-"])
        #expect(server.requests[1].contains { $0.hasPrefix("If-Range=") })
    }

    @Test func whereThereAreNoRangesItIsReadAgainAndSkipped() throws {
        let download = try HTTPByteSource(server.address("song", "norange", "cutonce=100000"))
        #expect(try download.all() == file)
        #expect(server.ranges == ["0-", ""])
    }

    @Test(arguments: ["chunked", "chunked/notag"], ["cutonce=100000", "cutonce=1000"])
    func aFileInChunksIsReadAgain(how: String, cut: String) throws {
        let download = try HTTPByteSource(server.address("song", how, cut))
        #expect(try download.all() == file)
        #expect(download.state.byteCount == file.count)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: ["chunked", "chunked/notag"]) func aFileInChunksThatAlwaysBreaksIsHeardOnce(how: String) throws {
        let download = try HTTPByteSource(server.address("song", "cut=100000", how))
        #expect(try download.bytes(from: 0, 100_000) == Array(file[..<100_000]))
        #expect(throws: ByteSourceError.self) { try download.bytes(from: 100_000, 1) }
        #expect(server.requests.count == 3)
        guard case .failed(let error) = download.state.phase else {
            Issue.record("\(download.state.phase)")
            return
        }
        #expect(error.kind == .connectionFailed && "\(error)".contains("each time at the same place"), "\(error)")
    }

    /// The second response begins with 60 kB of the first one, such as headers, and is a station then.
    @Test func aLiveStreamOfWhichNothingIsStatedGoesOn() throws {
        var next = file
        for index in 60_000..<next.count { next[index] ^= 1 }
        folder.write(next, to: "next")
        let download = try HTTPByteSource(
            server.address("song", "chunked", "notag", "cutonce=100000", "later=next"))
        #expect(try download.bytes(from: 0, 400_000) == file[..<100_000] + next)
    }

    @Test func aServerThatKeepsSilentIsLeft() throws {
        let options = HTTPOptions(timeout: .seconds(2))
        let download = try HTTPByteSource(server.address("song", "stallonce=100000"), options: options)
        #expect(try download.all() == file)
        #expect(server.ranges == ["0-", "100000-"])
    }

    @Test func whilePausedNothingTimesOut() throws {
        let options = HTTPOptions(timeout: .seconds(2))
        let download = try HTTPByteSource(server.address("song", "stallonce=100000"), options: options)
        _ = try download.bytes(from: 0, 100_000)
        download.pause(true)
        usleep(5_000_000)
        #expect(server.ranges.count == 1)
        download.pause(false)
        #expect(try download.bytes(from: 100_000) == Array(file[100_000...]))
        #expect(server.ranges.count == 2)
    }

    @Test func whileItIsFullNothingTimesOut() throws {
        let options = HTTPOptions(timeout: .seconds(2))
        let download = try HTTPByteSource(
            server.address("song"), options: options, limits: BufferLimits(ahead: 65_536, behind: 0))
        #expect(download.wait { $0.phase == .full })
        usleep(5_000_000)
        #expect(try download.all() == file)
        #expect(server.ranges.count == 1)
    }

    @Test func aFaultThatPassesIsWaitedFor() throws {
        let download = try HTTPByteSource(server.address("song", "cutonce=100000", "laterstatus=503"))
        _ = try download.bytes(from: 0, 100_000)
        #expect(download.wait { if case .reconnecting(let attempt) = $0.phase { attempt >= 2 } else { false } })
        download.stop()
    }

    @Test func aFileThatIsGoneIsNotWaitedFor() throws {
        let download = try HTTPByteSource(server.address("song", "cutonce=100000", "laterstatus=404"))
        #expect(throws: ByteSourceError.self) { try download.all() }
        guard case .failed(.failed(let sentence, kind: .notFound)) = download.state.phase else {
            Issue.record("\(download.state)")
            return
        }
        #expect(sentence.contains("404"))
    }

    @Test func anotherFileInItsPlaceIsNotGoneOnWith() throws {
        let download = try HTTPByteSource(server.address("song", "cutonce=100000"))
        _ = try download.bytes(from: 0, 100_000)
        folder.write(Array(file[..<250_000]), to: "song")
        #expect(throws: ByteSourceError.self) { try download.all() }
        #expect("\(download.state.phase)".contains("has changed"))
    }

    @Test func aFileWithAnotherTagIsAnother() throws {
        let download = try HTTPByteSource(server.address("song", "changing", "cutonce=100000"))
        #expect(throws: ByteSourceError.self) { try download.all() }
    }

    @Test func aStationGoesOnFromNow() throws {
        let download = try HTTPByteSource(server.address("song", "icy=10000", "cutonce=100000"))
        let bytes = try download.bytes(from: 0, 150_000)
        #expect(bytes == Array(file[..<100_000]) + Array(file[..<50_000]))
        let state = download.state
        #expect(state.isLive && !state.isSeekable && !state.isRepeatable && state.byteCount == nil)
        #expect(state.stationName == "Test \u{FFFD}Radio")
        download.stop()
    }

    @Test func titlesBelongToTheSoundBehindThem() throws {
        let download = try HTTPByteSource(server.address("song", "icy=10000", "slow=2000000"))
        _ = try download.bytes(from: 0, 45_000)
        #expect(download.title(at: 9_999) == nil)
        #expect(download.title(at: 10_000) == "0-0")
        #expect(download.title(at: 29_999) == "0-1")
        #expect(download.title(at: 41_000) == "0-3")
        download.stop()
    }

    @Test func bytesOfALiveStreamAreNotHeldAgain() throws {
        let limits = BufferLimits(ahead: 65_536, behind: 10_000)
        let download = try HTTPByteSource(server.address("song", "icy=10000"), limits: limits)
        _ = try download.bytes(from: 0, 100_000)
        #expect(try download.bytes(from: 95_000, 1_000) == Array(file[95_000..<96_000]))
        #expect(throws: ByteSourceError.self) { try download.bytes(from: 5, 1) }
        #expect(try download.bytes(from: 100_000, 1_000) == Array(file[100_000..<101_000]))
        download.stop()
    }

    @Test func aLengthThatIsTooLongHoldsNobodyUp() throws {
        for how in ["claim=400000", "claim=400000/norange"] {
            let download = try HTTPByteSource(server.address("song", how), limits: BufferLimits(behind: 1_000))
            #expect(try download.all() == file)
            #expect(download.state.phase == .ended && download.state.byteCount == file.count)
            #expect(try download.bytes(from: 5, 1_000) == Array(file[5..<1_005]))
            #expect(try download.bytes(from: 300_000, 1).isEmpty)
        }
    }

    @Test func aLengthThatIsTooShortIsBelieved() throws {
        let download = try HTTPByteSource(server.address("song", "claim=200000", "norange"))
        #expect(try download.all() == Array(file[..<200_000]))
    }
}
