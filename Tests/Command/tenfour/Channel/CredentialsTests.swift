import Glibc
import TestSupport
import Testing

/// Headers and passwords given on the command line: the servers that receive them, and the processes that can read
/// them.
@Suite(.onItsOwnThread) struct CredentialsTests {
    private let folder = Folder()
    private let first: SoundServer
    private let other: SoundServer

    init() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 0.5)]).wav(), to: "song.wav")
        first = try SoundServer(folder)
        other = try SoundServer(folder)
    }

    private static let headers = ["--header", "X-Key: tulips", "--header", "Authorization: Bearer roses"]

    private func said(to server: SoundServer) -> String {
        server.requests.map { $0.joined(separator: " ") }.joined(separator: "\n")
    }

    /// The playlist names both servers, by absolute and relative addresses, and one redirects to the other.
    @Test func aPlaylistReportsNothingToOtherHosts() throws {
        let leads = "leads=" + other.address("song.wav").utf8.map { String($0, radix: 16) }.joined()
        folder.write(
            "\(other.address("song.wav"))\nsong.wav\n\(first.address("song.wav"))\n\(first.address("song.wav", leads))\n",
            to: "list.m3u")
        let typed = first.address("list.m3u").replacing("http://", with: "http://joe:violets@")
        for arguments in [["play", typed, "-o", folder("out.wav")], ["plot", typed, "--json"]] {
            let run = try tenfour(arguments + Self.headers)
            #expect(run.end == .code(0), "\(run.errors)")
            for secret in ["violets", "tulips", "roses"] { #expect(!run.errors.contains(secret), "\(run.errors)") }
        }
        #expect(!other.requests.isEmpty && first.requests.count >= 5, "\(said(to: first))")
        for secret in ["X-Key", "Authorization"] { #expect(!said(to: other).contains(secret), "\(said(to: other))") }
        #expect(first.requests.allSatisfy { $0.contains { $0 == "X-Key=tulips" } }, "\(said(to: first))")
    }

    @Test func nothingGoesWhereNoAddressIsTyped() throws {
        folder.write(first.address("song.wav") + "\n", to: "list.m3u")
        let run = try tenfour(["play", folder("list.m3u"), "-o", folder("out.wav")] + Self.headers)
        #expect(run.end == .code(2) && run.errors.contains("--header is sent only to a web address"), "\(run.errors)")
        #expect(!run.errors.contains("tulips") && first.requests.isEmpty)
    }

    /// The arguments as other users of the machine can read them.
    @Test func theyAreWipedFromTheProcess() throws {
        let address = first.address("song.wav", "slow=1000").replacing("http://", with: "http://joe:violets@")
        let proxy = "http://ann:daisies@127.0.0.1:\(first.port)"
        for arguments in [Self.headers + ["--proxy", proxy], ["--header=X-Key: tulips", "--proxy=\(proxy)"]] {
            let before = first.requests.count
            let player = try Program("tenfour", ["play", address, "-o", folder("out.wav")] + arguments)
            #expect(player.wait(.seconds(30)) { first.requests.count > before }, "\(player.errors)")
            let shown = player.shownArguments
            #expect(shown.contains("song.wav") && shown.contains("@127.0.0.1"), "\(shown)")
            for secret in ["joe", "violets", "tulips", "roses", "ann", "daisies"] {
                #expect(!shown.contains(secret), "\(shown)")
            }
            #expect(said(to: first).contains("X-Key=tulips"), "what is hidden is still meant")
            player.send(SIGKILL)
            player.wait()
        }
    }

    @Test(arguments: [
        ["--header", "X-Key tulips"], ["--rate", "99", "--header", "X-Key: tulips"],
        ["--nonsense", "http://joe:tulips@h/"], ["--proxy", "http://joe:tulips@h:1", "--volume", "x"],
        ["--proxy", "joe:tulips@h:1", "--pitch", "9999"],
    ])
    func noErrorAndNoHelpShowsThem(arguments: [String]) throws {
        for environment in [[:], ["TENFOUR_PROXY": "http://joe:tulips@h:1"]] {
            for more in [[], ["--help"]] {
                let run = try tenfour(
                    ["play", "http://joe:tulips@h/song"] + arguments + more, environment: environment)
                #expect(run.end == .code(more.isEmpty ? 2 : 0) || run.end == .code(2))
                #expect(!run.errors.contains("tulips") && !run.output.contains("tulips"), "\(run)")
            }
        }
    }

    /// Writes the file 60 times while another process reads it as often as it can. The file that existed before,
    /// which everybody could read, must not receive the key.
    @Test func aKeyIsNeverInAFileThatOthersMayRead() throws {
        let key = "dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydHAu"
        folder.write(key, to: "key")
        let watcher = try Program(
            "python3",
            [
                "-c",
                """
                import os, sys
                path, reads, open_to_others = sys.argv[1], 0, 0
                while not os.path.exists(sys.argv[2]):
                    try:
                        for name in os.listdir(path):
                            if "live.sdp" not in name: continue
                            with open(os.path.join(path, name)) as file:
                                mode = os.fstat(file.fileno()).st_mode
                                if "inline:" in file.read():
                                    reads += 1
                                    open_to_others += mode & 0o077 != 0
                    except OSError: pass
                print(reads, open_to_others)
                """, folder.path, folder("stop"),
            ])
        for _ in 0..<60 {
            folder.write("v=0\n", to: "live.sdp")
            unsafe chmod(folder("live.sdp"), 0o666)
            if getuid() == 0 { unsafe chown(folder("live.sdp"), 65_534, 65_534) }
            let before = unsafe open(folder("live.sdp"), O_RDONLY | O_CLOEXEC)
            let run = try tenfour([
                "send", "--input", folder("song.wav"), "-d", "0.05", "--sdp", folder("live.sdp"), "--srtp-key-file",
                folder("key"), "srtp://127.0.0.1:9",
            ])
            #expect(run.end == .code(0) || run.end == .code(69), "\(run.errors)")
            var status = stat()
            #expect(unsafe stat(folder("live.sdp"), &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600 && status.st_uid == geteuid())
            #expect(Folder.text(of: folder("live.sdp")).contains("inline:"))
            var bytes = [UInt8](repeating: 0, count: 4_096)
            #expect(unsafe pread(before, &bytes, 4_096, 0) == 4, "the old file was written to")
            close(before)
        }
        folder.write("", to: "stop")
        #expect(watcher.wait() == .code(0))
        #expect(watcher.outputText.hasSuffix(" 0\n"), "\(watcher.outputText)")
    }

    /// A limit on file sizes kills the program when it writes the first byte.
    @Test func aProgramThatIsKilledWhileItWritesAKeyLeavesNoFile() throws {
        let unnamedFile = 0o2000_0000 | O_DIRECTORY  // O_TMPFILE, which Swift does not import
        let file = unsafe open(folder.path, O_WRONLY | unnamedFile | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        close(file)
        folder.write("dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydHAu", to: "key")
        let before = Folder.entries(of: folder.path).sorted()
        let program = try Program(
            "sh",
            [
                "-c", "ulimit -f 0; exec \"$@\" > /dev/null 2>&1", "sh", Program.path(of: "tenfour"), "send", "--input",
                folder("song.wav"), "--sdp", folder("live.sdp"), "--srtp-key-file", folder("key"), "srtp://127.0.0.1:9",
            ])
        #expect(program.wait() == .signal(SIGXFSZ), "\(program.errors)")
        #expect(Folder.entries(of: folder.path).sorted() == before)
    }

    @Test func aKeyGoesIntoNoLinkAndNoPipe() throws {
        folder.write("dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydHAu", to: "key")
        folder.write("v=0\n", to: "theirs.sdp")
        #expect(unsafe symlink(folder("theirs.sdp"), folder("link.sdp")) == 0)
        #expect(unsafe mkfifo(folder("pipe.sdp"), 0o600) == 0)
        for name in ["link.sdp", "pipe.sdp"] {
            let run = try tenfour([
                "send", "--input", folder("song.wav"), "--sdp", folder(name), "--srtp-key-file", folder("key"),
                "srtp://127.0.0.1:9",
            ])
            #expect(run.end == .code(69) && run.errors.contains("not a regular file"), "\(run.errors)")
        }
        #expect(Folder.text(of: folder("theirs.sdp")) == "v=0\n")
    }
}
