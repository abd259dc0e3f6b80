import Glibc
import TestSupport
import Testing

@testable import TenfourSystem

struct InotifyTests {
    private static func bytes(_ mask: UInt32, _ name: String = "", padded length: Int = 0) -> [UInt8] {
        let header = [1, mask, 0, UInt32(length)].flatMap { number in
            (0..<4).map { UInt8(number >> UInt32(8 * $0) & 255) }
        }
        return header + name.utf8 + [UInt8](repeating: 0, count: length - name.utf8.count)
    }

    @Test func theEventsHaveKindsAndNames() {
        let bytes =
            Self.bytes(0x100, "event5", padded: 16) + Self.bytes(4) + Self.bytes(0x84, "mouse0", padded: 16)
            + Self.bytes(0x4000) + Self.bytes(0x8000)
        #expect(
            InotifyEvent.all(in: bytes.span) == [
                InotifyEvent(.created, name: "event5"), InotifyEvent(.attributesChanged),
                InotifyEvent([.movedHere, .attributesChanged], name: "mouse0"), InotifyEvent(.overflow),
                InotifyEvent(.ended),
            ])
    }

    @Test func anEventThatIsCutOffIsIgnored() {
        let bytes = Self.bytes(0x100, "event5", padded: 16) + Self.bytes(4, "mouse0", padded: 16)
        for end in 0...bytes.count {
            let part = bytes[..<end]
            #expect(InotifyEvent.all(in: part.span).map(\.name) == Array(["event5", "mouse0"].prefix(end / 32)))
        }
        let endless = Self.bytes(4, "a", padded: 16).prefix(12) + [255, 255, 255, 255, 0x61]
        #expect(InotifyEvent.all(in: endless.span).isEmpty)
    }

    @Test func theKernelTellsWhatHappens() throws {
        let folder = Folder()
        let watch = try InotifyWatch(folder.path, for: [.created, .closedAfterWriting, .attributesChanged])
        #expect(watch.events().isEmpty)
        folder.write("x", to: "file")
        #expect(unsafe chmod(folder("file"), 0o600) == 0)
        let events = watch.events()
        for kind in [InotifyEvent.Kinds.created, .closedAfterWriting, .attributesChanged] {
            #expect(events.contains(InotifyEvent(kind, name: "file")), "\(events)")
        }
        #expect(watch.events().isEmpty)
    }

    @Test func theEndOfTheFolderEndsTheWatch() throws {
        let folder = Folder()
        let path = folder("watched")
        let isMade = unsafe mkdir(path, 0o700) == 0
        try #require(isMade)
        let watch = try InotifyWatch(path, for: .created)
        #expect(unsafe rmdir(path) == 0)
        #expect(watch.events() == [InotifyEvent(.ended)])
        #expect(throws: InotifyError(code: ENOENT)) { try InotifyWatch(path, for: .created) }
        folder.write("", to: "file")
        #expect(throws: InotifyError(code: ENOTDIR)) { try InotifyWatch(folder("file"), for: .created) }
    }
}
