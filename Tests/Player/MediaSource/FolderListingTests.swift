import Foundation
import Glibc
import TenfourAudioCore
import TenfourMediaSource
import TestSupport
import Testing

struct FolderListingTests {
    private let root = FileManager.default.temporaryDirectory.appending(path: "tenfour-\(UUID().uuidString)").path

    private static let mpegFrame: [UInt8] = [0xFF, 0xFB, 0x90, 0x64] + [UInt8](repeating: 0, count: 60)

    private func make(_ files: [String], _ bytes: [UInt8] = [1]) throws {
        for file in files {
            let path = "\(root)/\(file)"
            let folder = String(path[..<path.lastIndex(of: "/")!])
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            try Data(bytes).write(to: URL(filePath: path))
        }
    }

    /// Returns the listed paths, relative to the root, and removes the folder.
    private func listed() throws -> (paths: [String], omissions: [FolderListing.Omission]) {
        defer { try? FileManager.default.removeItem(atPath: root) }
        let listing = try #require(FolderListing(of: root))
        return (listing.paths.map { String($0.dropFirst(root.count + 1)) }, listing.omissions)
    }

    @Test func filesComeInNaturalOrderBeforeSubfolders() throws {
        try make(["10 z.mp3", "2 y.MP3", "CD 10/a.flac", "CD 2/a.flac", "cd 1/x/deep.ogg", "cd 1/y.opus"])
        let (paths, omissions) = try listed()
        #expect(
            paths == [
                "2 y.MP3", "10 z.mp3", "cd 1/y.opus", "cd 1/x/deep.ogg", "CD 2/a.flac", "CD 10/a.flac",
            ])
        #expect(omissions.isEmpty)
    }

    @Test func whatIsHiddenOrNotAudioIsLeftOut() throws {
        try make([".hidden.mp3", ".folder/a.mp3", "cover.jpg", "notes.txt", "list.m3u", "song.mp3.part", "a.wav"])
        #expect(try listed().paths == ["a.wav"])
    }

    @Test func aNameWithoutAnEndingIsJudgedByItsContent() throws {
        try make(["frame", "v1.mp3"], Self.mpegFrame)
        try make(["README"], Array("A text about music".utf8))
        try make(["utf16"], [0xFF, 0xFE, 0x41, 0x00, 0x42, 0x00])
        try make(["ogg"], Array("OggS".utf8) + [UInt8](repeating: 0, count: 40))
        try make(["empty"], [])
        #expect(try listed().paths == ["frame", "ogg", "v1.mp3"])
    }

    @Test func linksAreFollowedButNotInACircle() throws {
        try make(["a/1.mp3", "b/2.mp3"])
        let links = [("a/up", ".."), ("a/self", "."), ("b/again", "../a"), ("3.mp3", "a/1.mp3"), ("x", "none")]
        for (name, target) in links {
            #expect(unsafe symlink(target, "\(root)/\(name)") == 0)
        }
        #expect(try listed().paths == ["3.mp3", "a/1.mp3", "b/2.mp3"])
    }

    @Test func depthHasABoundThatIsTold() throws {
        try make([String(repeating: "d/", count: 8) + "in.mp3", String(repeating: "d/", count: 9) + "out.mp3"])
        let (paths, omissions) = try listed()
        #expect(paths == [String(repeating: "d/", count: 8) + "in.mp3"])
        #expect(omissions == [.tooDeep])
    }

    @Test func theNumberOfFilesHasABoundThatIsTold() throws {
        try make(["1.mp3"])
        for index in 2...FolderListing.maximumCount + 5 {
            #expect(unsafe link("\(root)/1.mp3", "\(root)/\(index).mp3") == 0)
        }
        let (paths, omissions) = try listed()
        #expect(paths.count == FolderListing.maximumCount && paths.last == "\(FolderListing.maximumCount).mp3")
        #expect(omissions == [.tooMany])
    }

    @Test func aSheetStandsForTheFilesThatItDivides() throws {
        try make(["1.flac", "album.flac", "z.mp3"])
        try make(["album.cue"], Array("FILE \"album.flac\" WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00\n".utf8))
        try make(["other.cue"], Array("FILE \"none.flac\" WAVE\nTRACK 01 AUDIO\nINDEX 01 00:00:00\n".utf8))
        #expect(try listed().paths == ["1.flac", "album.cue", "z.mp3"])
    }

    @Test func oneFileCanBeLeftOutByAnyName() throws {
        defer { try? FileManager.default.removeItem(atPath: root) }
        try make(["a.wav", "b.wav"])
        #expect(unsafe symlink("b.wav", "\(root)/c.wav") == 0)
        let listing = try #require(FolderListing(of: root, leavingOut: "\(root)/b.wav"))
        #expect(listing.paths == ["\(root)/a.wav"])
    }

    @Test func eachOmissionHasARemedyOfItsOwn() throws {
        try make([String(repeating: "d/", count: 9) + "out.mp3", "a.mp3"])
        defer { try? FileManager.default.removeItem(atPath: root) }
        #expect(
            try #require(FolderListing(of: root)).omissionText
                == "folders more than 8 levels down are left out, so play these by themselves")
    }

    /// 0xE9 is an é in Latin-1, and no UTF-8.
    @Test func namesAreBytes() throws {
        let folder = Folder()
        let path = folder(String(pathBytes: Array("latin".utf8) + [0xE9] + Array(".wav".utf8)))
        let file = unsafe path.withPath { unsafe creat($0, 0o600) }
        #expect(file >= 0 && close(file) == 0)
        defer { _ = unsafe path.withPath { unsafe unlink($0) } }
        let listing = try #require(FolderListing(of: folder.path))
        #expect(listing.paths == [path] && listing.omissionText == nil)
        #expect("\(Resource.file(path: path))".hasSuffix("/latin\u{FFFD}.wav"))
        #expect(Resource.file(path: path).url?.hasSuffix("/latin%E9.wav") == true)
        #expect(try Resource(try #require(Resource.file(path: path).url)) == .file(path: path))
    }

    @Test func aFolderThatIsNoneIsRefused() {
        #expect(FolderListing(of: root) == nil)
        #expect(FolderListing(of: "/dev/null") == nil)
    }

    /// Many sheets in one folder take no time that grows with the square of their number.
    @Test func manySheetsAreAppliedInTime() throws {
        let folder = Folder()
        for number in 0..<1_500 {
            folder.write("FILE \(number).wav WAVE\nTRACK 1 AUDIO\nINDEX 1 0:0:0\n", to: "\(number).cue")
            folder.write([], to: "\(number).wav")
        }
        let begin = ContinuousClock.now
        let listing = try #require(FolderListing(of: folder.path))
        #expect(listing.paths == (0..<1_500).map { folder("\($0).cue") })
        #expect(ContinuousClock.now - begin < .seconds(20))
    }

    @Test func aListingCanBeCancelled() throws {
        let folder = Folder()
        folder.write([], to: "1.wav")
        #expect(FolderListing(of: folder.path) { true }?.paths == [])
    }
}
