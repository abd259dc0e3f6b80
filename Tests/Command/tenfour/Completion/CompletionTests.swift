import TestSupport
import Testing

/// The shells complete a typed word at the Tab key, with the scripts of `tenfour --generate-completion-script`.
@Suite(.onItsOwnThread, .inRealTime) struct CompletionTests {
    private let folder = Folder()

    /// A typed line after `tenfour`, and the words that the shell makes of it.
    private struct Completion {
        var typed: String
        var words: [String]

        init(_ typed: String, _ words: String...) {
            self.typed = typed
            self.words = words
        }
    }

    private static let completions = [
        // Commands, options, values of options.
        Completion("chan", "channel"), Completion("channel n", "channel", "new"),
        Completion("talk --prof", "talk", "--profile"), Completion("play --help-", "play", "--help-all"),
        Completion("talk --profile inter", "talk", "--profile", "internet"),
        Completion("send --frame 10", "send", "--frame", "10ms"),
        // Files and folders: there are recording.wav, record.sdp, record.txt, and the folder music.
        Completion("play recor", "play", "recording.wav"), Completion("recv recor", "recv", "record.sdp"),
        Completion("talk -o recor", "talk", "-o", "recording.wav"), Completion("send recordi", "send", "recording.wav"),
        Completion("send record.", "send", "record.sdp"),
        Completion("send tw", "send", "two words.wav"),
        // The same behind a tilde, which the shell replaces.
        Completion("send ~/tw", "send", "HOME/two words.wav"),
        Completion("talk --link-file ~/ho", "talk", "--link-file", "HOME/home.link"),
        // The shell would run the command in this file's name if the name were not quoted.
        Completion("send ~/music/", "send", "HOME/music/$(touch owned).wav"),
        Completion("send music/", "send", "music/$(touch owned).wav"),
        Completion("talk --link-file ~/music/", "talk", "--link-file", "HOME/music/`touch owned`.link"),
        Completion("send back", "send", "back\\slash.wav"),
        // Sound cards.
        Completion("talk -D made", "talk", "-D", "madeup"), Completion("recv -D made", "recv", "-D", "madeup"),
        Completion("play --device hw:CARD=U", "play", "--device", "hw:CARD=USB,DEV=0"),
        // Channels that were saved.
        Completion("talk fam", "talk", "family"), Completion("listen fam", "listen", "family"),
        Completion("send fam", "send", "family"), Completion("talk --link-file ho", "talk", "--link-file", "home.link"),
        Completion("talk oth", "talk", "other\\way"),
        Completion("recv --interface l", "recv", "--interface", "lo"),
    ]

    /// Bash and fish keep the slash behind a folder, which zsh removes at Return.
    private static let folders = [
        Completion("send ./mus", "send", "./music/"), Completion("send ~/mus", "send", "HOME/music/"),
    ]

    @Test func bashCompletesWords() throws {
        folder.write("", to: "$(touch owned).wav")
        // For bash, colons and equals signs end a word.
        try expect(
            Self.completions + Self.folders + [
                Completion("talk --device=made", "talk", "--device=madeup"),
                Completion("talk --link-file=~/music/", "talk", "--link-file=HOME/music/`touch owned`.link"),
                Completion("talk --link-file=~/both/", "talk", "--link-file=~/both/"),
                Completion("play ~/tw", "play", "HOME/two words.wav"), Completion("play ~/mus", "play", "HOME/music/"),
                Completion("play ~/music/", "play", "HOME/music/$(touch owned).wav"),
                Completion("play $HOME/mus", "play", "HOME/music/"),
                Completion("play $HOME/music/", "play", "HOME/music/"),
                Completion("send '$(t", "send", "$(touch owned).wav"),
            ],
            from: "bash", ["--norc", "--noprofile", "-i"],
            """
            tenfour() { [[ $1 = ---completion ]] && command tenfour "$@" || printf '<%s>' "$@" '|'; }
            """)
    }

    @Test func zshCompletesWords() throws {
        try expect(
            Self.completions + [
                Completion("send ./mus", "send", "./music"), Completion("send ~/mus", "send", "HOME/music"),
                Completion("play ~/tw", "play", "HOME/two words.wav"),
            ], from: "zsh", ["-f", "-i"],
            """
            autoload -U compinit && compinit -D -u
            tenfour() { [[ $1 = ---completion ]] && command tenfour "$@" || printf '<%s>' "$@" '|' }
            """)
    }

    @Test func fishCompletesWords() throws {
        try expect(
            Self.completions + Self.folders, from: "fish", ["--no-config", "-i"],
            """
            set -g fish_autosuggestion_enabled 0
            function tenfour; printf '<%s>' $argv '|'; end
            """)
    }

    /// Each way to ask for the script of bash gives the same script, in which `hw:CARD=USB` is one word.
    @Test(arguments: [["--generate-completion-script=bash"], ["--generate-completion-script"]])
    func eachRequestGivesTheWholeScript(arguments: [String]) throws {
        let script = try tenfour(arguments, environment: ["SHELL": "/bin/bash", "TENFOUR_UNKNOWN": "1"])
        #expect(script.end == .code(0) && script.errors == "", "\(script.errors)")
        #expect(try script.output == tenfour(["--generate-completion-script", "bash"]).output)
        #expect(script.output.contains("_tenfour_with_whole_words tenfour\n"))
    }

    /// An unknown shell is refused.
    @Test func unknownShellIsRefused() throws {
        #expect(try tenfour(["--generate-completion-script=tcsh"]).end == .code(2))
    }

    /// Types each line, Tab and Return into the shell, in which `tenfour` is a function that prints its arguments.
    private func expect(_ completions: [Completion], from shell: String, _ options: [String], _ setup: String) throws {
        try prepare()
        // The shells make folders, too.
        defer { _ = try? Program.run("find", [folder.path, "-mindepth", "1", "-delete"]) }
        let script = try tenfour(["--generate-completion-script", shell], environment: ["TENFOUR_UNKNOWN": "1"])
        #expect(script.end == .code(0) && script.errors == "", "\(script.errors)")
        folder.write(setup, to: "setup")
        folder.write(script.output, to: "script")
        let terminal = Terminal(columns: 200)
        let program = try Program(shell, options, in: folder, environment: environment, terminal: terminal)
        terminal.type("source ./setup; source ./script; printf '%s-%s\\n' all set\n")
        try #require(program.says("all-set"), "\(terminal.shown)")
        for completion in completions {
            terminal.type("tenfour \(completion.typed)\t\n")
            let words = (completion.words + ["|"]).map { "<\($0.replacing("HOME", with: folder.path))>" }.joined()
            try #require(
                program.says(words, within: .seconds(20)), "\(completion.typed): \(terminal.shown.suffix(500))")
        }
        #expect(try Program.run("find", [folder.path, "-name", "owned"]).output == "", "A shell ran a file's name.")
        // Warnings about the environment would spoil the typed line.
        #expect(!terminal.shown.contains("TENFOUR_UNKNOWN"))
        terminal.type("exit\n")
        #expect(program.wait(.seconds(10)) == .code(0))
    }

    private var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_CONFIG_HOME": folder("config"), "ALSA_CONFIG_PATH": folder("asound.conf"),
            "PATH": Program.searchPath, "TERM": "dumb", "TENFOUR_UNKNOWN": "1",
        ]
    }

    private func prepare() throws {
        for name in ["recording.wav", "record.sdp", "record.txt", "two words.wav", "home.link", "back\\slash.wav"] {
            folder.write("", to: name)
        }
        try Program.run("mkdir", ["-p", "music", "both", "config/tenfour"], in: folder)
        folder.write("", to: "music/$(touch owned).wav")
        folder.write("", to: "music/`touch owned`.link")
        for name in ["`touch owned` 1.link", "`touch owned` 2.link"] { folder.write("", to: "both/" + name) }
        folder.write("", to: "config/tenfour/family.link")
        folder.write("", to: "config/tenfour/other\\way.link")
        folder.write(
            """
            pcm.madeup { type null hint { show on description "Made up" } }
            namehint.pcm [ "hw:CARD=USB,DEV=0|DESCA card" ]
            """, to: "asound.conf")
    }
}
