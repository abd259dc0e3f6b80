import TestSupport
import Testing

/// Tools list the Debian packages that they would install, and ask before they install them.
@Suite(.onItsOwnThread) struct InstallingTests {
    private let folder = Folder()

    /// Prepares a folder with fake programs: dpkg-query reports gcc as missing, and apt-get only records its
    /// arguments.
    init() throws {
        let script = """
            cp "$0/Tools/Programs/common.sh" .
            printf '#!/bin/sh\ncase "$*" in *gcc) exit 1;; *) echo installed;; esac\n' >dpkg-query
            printf '#!/bin/sh\necho "$*" >>installed\n' >apt-get
            cp apt-get sudo
            printf '. ./common.sh\nneed make gcc\necho "goes on with $*"\n' >tool
            chmod +x dpkg-query apt-get sudo
            """
        let made = try Program.run("bash", ["-ec", script, Repository.root], in: folder)
        try #require(made.end == .code(0), "\(made.errors)")
    }

    private var environment: [String: String] { ["PATH": "\(folder.path):/usr/bin:/bin"] }
    private var hasInstalled: Bool {
        Folder.text(of: folder("installed")).contains("install -qy --no-install-recommends gcc")
    }

    @Test(arguments: [("\n", true), ("y\n", true), ("n\n", false), ("\u{4}", false)])
    func aPersonIsAsked(answer: String, isTaken: Bool) throws {
        let terminal = Terminal()
        let program = try Program("bash", ["tool", "word"], in: folder, environment: environment, terminal: terminal)
        try #require(program.says("install them with apt-get now? [Y/n]"), "\(terminal.shown)")
        #expect(terminal.shown.contains("these Debian packages are missing: gcc\r\n"), "\(terminal.shown)")
        #expect(!hasInstalled)
        terminal.type(answer)
        #expect(program.wait() == .code(isTaken ? 0 : 1))
        #expect(hasInstalled == isTaken && terminal.shown.contains("goes on with word") == isTaken, "\(terminal.shown)")
    }

    @Test func nobodyIsAskedWithoutATerminalOrWithAnOption() throws {
        let result = try Program.run("bash", ["tool", "a", "-y", "--", "-y"], in: folder, environment: environment)
        #expect(result.end == .code(0) && result.output == "goes on with a -- -y\n" && hasInstalled, "\(result)")
        let terminal = Terminal()
        let program = try Program("bash", ["tool", "--yes"], in: folder, environment: environment, terminal: terminal)
        #expect(program.wait() == .code(0) && !terminal.shown.contains("[Y/n]"), "\(terminal.shown)")
    }

    @Test func theMeterAloneSaysWhatItNeeds() throws {
        let meter = try Program.run(
            "bash",
            ["-c", "exec \"$0/Tools/chirpmeter\" -d 1 --lead 0.2 --mic-pcm null --ear-pcm null", Repository.root])
        #expect(meter.errors.contains("another program must carry the audio between the two"), "\(meter.errors)")
    }
}
