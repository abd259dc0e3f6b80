import Dispatch
import Glibc
import TenfourUV
import TestSupport
import Testing

@Suite(.onItsOwnThread) struct LocalSocketTests {
    private let folder = Folder()
    private var path: String { folder("status.sock") }

    /// Runs an answering event loop on its own thread while `body` runs.
    private func whileAnswering(_ answer: [UInt8], _ body: () throws -> Void) throws {
        let path = path
        let ready = Pipe()
        let end = Pipe()
        let readyInput = ready.input
        let endOutput = end.output
        let over = DispatchSemaphore(value: 0)
        DispatchQueue.global().async {
            defer { over.signal() }
            do {
                let loop = try EventLoop()
                var count = 0
                _ = try LocalSocket(on: loop, listeningAt: path) {
                    count += 1
                    return answer + [UInt8(ascii: "0") + UInt8(count % 10)]
                }
                _ = try loop.onReadable(endOutput) { [unowned loop] in loop.stop() }
                _ = unsafe write(readyInput, "r", 1)
                loop.run()
            } catch {
                Issue.record(error)
                _ = unsafe write(readyInput, "x", 1)
            }
        }
        defer {
            end.closeInput()
            over.wait()
        }
        #expect(ready.read(1) == [UInt8(ascii: "r")])
        try body()
    }

    @Test func eachClientGetsAFreshReply() throws {
        let long = [UInt8](repeating: 7, count: 1 << 20)
        try whileAnswering(long) {
            for count in 1...9 {
                let told = try LocalSocket.ask(path)
                #expect(told == long + [UInt8(ascii: "0") + UInt8(count)])
            }
        }
    }

    @Test func onlyItsOwnerMayAskAndNothingStaysBehind() throws {
        try whileAnswering([1]) {
            var status = stat()
            #expect(unsafe lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        }
        #expect(unsafe access(path, F_OK) != 0)
        #expect(throws: NetworkError.self) { try LocalSocket.ask(path) }
    }

    /// The socket file of a killed program is replaced. That of a running program is kept, and so is a file that is
    /// no socket.
    @Test func aSocketLeftBehindIsReplacedAndOneInUseIsNot() throws {
        try whileAnswering([1]) {
            let loop = try EventLoop()
            do throws(NetworkError) {
                _ = try LocalSocket(on: loop, listeningAt: path) { [] }
                Issue.record("an unusable path was accepted")
            } catch { #expect(error.code == EADDRINUSE) }
        }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let dead = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        unsafe withUnsafeBytes(of: &address) {
            _ = unsafe bind(dead, $0.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t($0.count))
        }
        close(dead)
        #expect(unsafe access(path, F_OK) == 0)
        try whileAnswering([1]) {
            let told = try LocalSocket.ask(path)
            #expect(told == [1, UInt8(ascii: "1")])
        }

        folder.write("a file", to: "status.sock")
        let loop = try EventLoop()
        #expect(throws: NetworkError.self) { _ = try LocalSocket(on: loop, listeningAt: path) { [] } }
        #expect(Folder.text(of: path) == "a file")
    }

    /// A client that connects and reads nothing does not keep other clients from their replies.
    @Test func thoseWhoDoNotReadAreHungUpOn() throws {
        let long = [UInt8](repeating: 7, count: 4 << 20)
        try whileAnswering(long) {
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
            var idle: [Int32] = []
            for _ in 0..<20 {
                let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
                unsafe withUnsafeBytes(of: &address) {
                    _ = unsafe connect(
                        descriptor, $0.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t($0.count))
                }
                idle.append(descriptor)
            }
            let told = try LocalSocket.ask(path, patience: 60)
            #expect(told.count == long.count + 1)
            for descriptor in idle { close(descriptor) }
        }
    }

    @Test func aPathThatIsTooLongIsRefusedWhole() throws {
        let loop = try EventLoop()
        let long = folder(String(repeating: "x", count: 108))
        do throws(NetworkError) {
            _ = try LocalSocket(on: loop, listeningAt: long) { [] }
            Issue.record("an unusable path was accepted")
        } catch { #expect(error.code == ENAMETOOLONG) }
    }
}
