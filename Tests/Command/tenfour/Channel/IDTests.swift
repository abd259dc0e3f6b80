import Glibc
import TenfourChannelKeys
import TenfourManagedChannel
import TestSupport
import Testing

/// `tenfour id` makes an identity once, and prints its line.
@Suite(.onItsOwnThread, .inRealTime) struct IDTests {
    private let folder = Folder()
    private let home = Folder()

    private func run(_ arguments: String...) throws -> (end: Program.End, output: String, errors: String) {
        let result = try tenfour(["id"] + arguments, in: folder, environment: ["XDG_CONFIG_HOME": home.path])
        return (result.end, result.output, result.errors)
    }

    private var path: String { home("tenfour/identity") }

    private func tidy() {
        unsafe unlink(path)
        unsafe rmdir(home("tenfour"))
    }

    @Test func theFirstCallMakesAnIdentityAndOthersPrintIt() throws {
        defer { tidy() }
        let first = try run("--anonymous")
        #expect(first.end == .code(0))
        #expect(first.output.wholeMatch(of: /id-([a-z2-7]{4}-){13}[a-z2-7]{2}\n/) != nil, "\(first.output)")
        #expect(first.errors.contains("made a new identity in \(path). Keep a copy"), "\(first.errors)")
        var status = stat()
        #expect(unsafe lstat(path, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        let content = Folder.text(of: path)
        #expect(content.wholeMatch(of: /tenfour identity 1\n[a-z2-7]{52}\n/) != nil)
        let again = try run("--anonymous")
        #expect(again.output == first.output && again.errors == "")
        #expect(Folder.text(of: path) == content)
        let words = try run("--words", "--name", "Anna Blume")
        #expect(words.output.hasSuffix(" Anna Blume\n"))
        let line = try IdentityLine(words.output)
        #expect(IdentityLine(line.key).letters + "\n" == first.output)
        #expect(try IdentityLine(run().output).key == line.key)
        // Nothing that is printed holds the secret.
        let seed = content.split(separator: "\n")[1]
        #expect(!(first.output + first.errors + words.output).contains(seed))
    }

    @Test func theLineIsDrawnForCameras() throws {
        defer { tidy() }
        let drawn = try run("--qr")
        #expect(drawn.output.split(separator: "\n").count > 20 && drawn.output.hasPrefix("id-"), "\(drawn.output)")
    }

    @Test func aFileThatOthersMayReadIsRefused() throws {
        defer { tidy() }
        _ = try run()
        unsafe chmod(path, 0o640)
        let refused = try run()
        #expect(refused.end == .code(69) && refused.output == "")
        #expect(refused.errors.contains("other users may read \(path) (mode 640): run chmod 600 \(path)"))
    }

    @Test(arguments: ["", "something else\n", "tenfour identity 1\nshort\n", String(repeating: "x", count: 400)])
    func anotherFileIsRefusedAndKept(content: String) throws {
        defer { tidy() }
        #expect(unsafe mkdir(home("tenfour"), 0o700) == 0)
        home.write(content, to: "tenfour/identity")
        let refused = try run()
        #expect(refused.end == .code(69) && refused.output == "")
        #expect(refused.errors.contains("so it holds no identity: restore it from a copy"), "\(refused.errors)")
        #expect(Folder.text(of: path) == content)
    }

    @Test func wrongUseGetsAClearError() throws {
        defer { tidy() }
        let both = try run("--name", "Anna", "--anonymous")
        #expect(both.end == .code(2) && both.errors.contains("contradict each other"))
        let control = try run("--name", "a\u{7}b")
        #expect(control.end == .code(2) && control.errors.contains("without control characters"))
        #expect(unsafe access(path, F_OK) != 0, "wrong use made an identity")
        let nowhere = try tenfour(["id"], in: folder, environment: ["XDG_CONFIG_HOME": "/proc/none"])
        #expect(nowhere.end == .code(69) && nowhere.errors.contains("cannot write /proc/none/tenfour/identity"))
    }
}
