import Glibc
import TenfourSystem
import TestSupport
import Testing

struct PrivateFileTests {
    private let folder = Folder()
    private let content = Array("a secret\n".utf8)

    private func read(_ name: String, upTo count: Int = 64) throws(PrivateFileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var span = bytes.mutableSpan
        let length = try PrivateFile.read(folder(name), into: &span)
        return Array(bytes[..<length])
    }

    private func mode(of name: String) -> mode_t {
        var status = stat()
        return unsafe lstat(folder(name), &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private var names: [String] { Folder.entries(of: folder.path).filter { !$0.hasPrefix(".") }.sorted() }

    @Test func aNewFileIsReadByItsOwnerAlone() throws {
        try PrivateFile.create(folder("new"), content.span)
        #expect(mode(of: "new") == 0o600)
        #expect(try read("new") == content)
        #expect(try read("new", upTo: 3) == Array("a s".utf8))
        #expect(names == ["new"])
    }

    @Test func anExistingFileIsNeverOverwritten() throws {
        folder.write("theirs", to: "old")
        #expect(unsafe symlink(folder("nowhere"), folder("link")) == 0)
        for name in ["old", "link"] {
            #expect(throws: PrivateFileError.exists) { try PrivateFile.create(folder(name), content.span) }
        }
        #expect(Folder.text(of: folder("old")) == "theirs")
        #expect(names == ["link", "old"])
    }

    @Test(arguments: [mode_t(0o640), 0o604, 0o620, 0o602, 0o666])
    func aFileThatOthersMayUseIsRefused(mode: mode_t) {
        folder.write("secret", to: "open")
        unsafe chmod(folder("open"), mode)
        #expect(throws: PrivateFileError.mode(mode)) { try read("open") }
        #expect(PrivateFileError.mode(mode).sentence("f", holding: "a key").contains("run chmod 600 f"))
    }

    @Test func aMissingFileIsTold() {
        #expect(throws: PrivateFileError.unreadable(ENOENT)) { try read("none") }
        #expect(throws: PrivateFileError.unwritable(ENOENT)) {
            try PrivateFile.create(folder("no/folder"), content.span)
        }
        #expect(throws: Never.self) { try PrivateFile.erase(folder("none")) }
    }

    @Test func aReplacedFileKeepsItsModeAndLosesItsOldContent() throws {
        try PrivateFile.create(folder("file"), content.span)
        // Another name of the old file shows what becomes of its content.
        #expect(unsafe link(folder("file"), folder("witness")) == 0)
        try PrivateFile.replace(folder("file"), [1, 2, 3].span, erasesOld: true)
        #expect(try read("file") == [1, 2, 3])
        #expect(mode(of: "file") == 0o600)
        #expect(try read("witness") == [UInt8](repeating: 0, count: content.count))
        #expect(names == ["file", "witness"])
    }

    @Test func onlyARegularFileIsReplaced() throws {
        try PrivateFile.create(folder("file"), content.span)
        #expect(unsafe symlink(folder("file"), folder("link")) == 0)
        #expect(unsafe mkfifo(folder("pipe"), 0o600) == 0)
        for name in ["link", "pipe"] {
            #expect(throws: PrivateFileError.notRegular) { try PrivateFile.replace(folder(name), [1].span) }
        }
        #expect(try read("file") == content)
    }

    @Test func anErasedFileIsGoneAndZero() throws {
        try PrivateFile.create(folder("file"), content.span)
        #expect(unsafe link(folder("file"), folder("witness")) == 0)
        try PrivateFile.erase(folder("file"))
        #expect(names == ["witness"])
        #expect(try read("witness") == [UInt8](repeating: 0, count: content.count))
    }
}
