import Glibc
import TestSupport
import Testing

/// Channel links that are saved under the channel's name.
@Suite(.onItsOwnThread, .inRealTime) struct SavedLinkTests {
    private let folder = Folder()
    private var home: [String: String] { ["XDG_CONFIG_HOME": folder("config")] }
    private var file: String { folder("config") + "/tenfour/family.link" }

    private func run(_ arguments: String, _ environment: [String: String]? = nil) throws
        -> (end: Program.End, output: String, errors: String)
    {
        try tenfour(
            arguments.split(separator: " ").map(String.init), in: folder, environment: environment ?? home)
    }

    /// Creates the channel and returns its talk link.
    private func make(_ options: String = "") throws -> String {
        let made = try run("channel new Family --save \(options)")
        #expect(made.end == .code(0), "\(made.errors)")
        #expect(made.errors.contains("the talk link is saved in \(file)"), "\(made.errors)")
        return String(made.output.prefix { $0 != "\n" })
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        unsafe stat(path, &status)
        return status.st_mode & 0o777
    }

    private func clean() {
        unsafe unlink(file)
        unsafe rmdir(folder("config") + "/tenfour")
        unsafe rmdir(folder("config"))
    }

    @Test func theLinkIsKeptForItsOwnerAloneAndNeverWrittenOver() throws {
        defer { clean() }
        umask(0)
        let link = try make()
        #expect(Folder.text(of: file) == link + "\n")
        #expect(mode(file) == 0o600 && mode(folder("config") + "/tenfour") == 0o700)
        let again = try run("channel new family --save")
        #expect(again.end == .code(69) && again.output == "", "no link is printed that could not be saved")
        #expect(again.errors.contains("\(file) already exists"), "\(again.errors)")
        #expect(Folder.text(of: file) == link + "\n")
        // A symbolic link in its place is not followed either.
        unsafe unlink(file)
        unsafe symlink(folder("elsewhere"), file)
        #expect(try run("channel new family --save").end == .code(69))
        #expect(unsafe access(folder("elsewhere"), F_OK) != 0)
    }

    @Test func aNameWithADotIsAHostsAndNotKept() throws {
        let result = try run("channel new bob.local --save")
        #expect(result.end == .code(2) && result.output == "")
        #expect(result.errors.contains("without a dot"), "\(result.errors)")
    }

    @Test func withoutConfigurationHomeItLiesInTheHomesOwn() throws {
        let home = ["HOME": folder("home"), "XDG_CONFIG_HOME": ""]
        let path = folder("home") + "/.config/tenfour/family.link"
        defer {
            unsafe unlink(path)
            for name in ["/.config/tenfour", "/.config", ""] { unsafe rmdir(folder("home") + name) }
        }
        #expect(try run("channel new family --save", home).errors.contains(path))
        #expect(mode(path) == 0o600)
        #expect(try run("channel keys family", home).end == .code(0))
    }

    /// Two stations and a listener find the channel by its name and report the file.
    @Test func stationsFindTheChannelByItsName() throws {
        defer { clean() }
        folder.write(longTone, to: "long.wav")
        // The link's relay is this machine, where a station started separately answers.
        let port = UDPPort.free()
        let link = try make("--relay 127.0.0.1:\(port)")
        let answering = "tenfour://:\(port)/family#" + link.split(separator: "#")[1]
        let rtpSession = try Program(
            "tenfour", ["listen", "--link-file", "answer", "-o", "heard.wav"], in: prepared(answering))
        try #require(rtpSession.takes(port: port), "\(rtpSession.errors)")
        let sender = try Program(
            "tenfour", ["send", "long.wav", "Family"], in: folder, environment: home)
        let says = "is taken as the channel saved in \(file); for a host of that name, write"
        #expect(sender.says(says) && sender.says("in the channel"), "\(sender.errors)")
        let listener = try Program(
            "tenfour", ["listen", "family", "-o", "other.wav"], in: folder, environment: home)
        #expect(listener.says(says) && listener.says("hearing"), "\(listener.errors)")
        for program in [sender, listener, rtpSession] {
            program.send(SIGINT)
            #expect(program.wait() == .code(0), "\(program.errors)")
        }
    }

    /// A second station on the same machine joins the first one instead of answering itself, as nobody would find it.
    @Test func withoutARelayASecondStationOfTheMachineJoinsTheFirst() throws {
        folder.write(longTone, to: "long.wav")
        let port = UDPPort.free()
        let secret = try tenfour(["channel", "new", "family"]).output.split(separator: "\n")[0].split(separator: "#")[1]
        let link = ["TENFOUR_LINK": "tenfour://:\(port)/family#\(secret)"]
        let first = try Program(
            "tenfour", ["talk", "--input", "long.wav", "-o", "first.wav", "--name", "Anna"], in: folder,
            environment: link)
        try #require(
            first.takes(port: port) && first.says("connect to port \(port) of this machine"), "\(first.errors)")
        for options in [[], ["-p", "\(UDPPort.free())"]] as [[String]] {
            let second = try Program(
                "tenfour", ["talk", "--open", "--input", "long.wav", "-o", "second.wav", "--name", "Ben"] + options,
                in: folder, environment: link)
            #expect(second.says("through the station on port \(port) of this machine"), "\(second.errors)")
            #expect(second.says("1 here: Anna") && first.says("Ben is here"), "\(second.errors) \(first.errors)")
            second.send(SIGINT)
            #expect(second.wait() == .code(0), "\(second.errors)")
            #expect(first.says("Ben has left"), "\(first.errors)")
        }
    }

    @Test func aNameThatIsNearlyASavedChannelsGetsAHint() throws {
        defer { clean() }
        let none = try run("talk unlike -o x.wav").errors
        #expect(none.contains("; no channel of that name is saved"), "\(none)")
        _ = try make()
        for arguments in ["talk famly --input missing.wav -o x.wav", "listen famly", "send missing.wav famly"] {
            let result = try run(arguments)
            #expect(result.errors.contains("did you mean the saved channel family?"), "\(result.errors)")
        }
        for command in ["talk", "listen"] {
            let errors = try run("\(command) unlike -o x.wav").errors
            #expect(!errors.contains("did you mean"))
            #expect(errors.contains("; no channel has that name either; saved are family"), "\(errors)")
        }
    }

    private func prepared(_ link: String) -> Folder {
        folder.write(link + "\n", to: "answer")
        return folder
    }

    /// A name with a port is a host, even if a channel of this name is saved. A saved file that others may read is
    /// refused like any other.
    @Test func aNameWithAPortIsAHost() throws {
        defer { clean() }
        _ = try make()
        let host = try run("talk family:5004 --input missing.wav -o x.wav")
        #expect(!host.errors.contains("is taken as the channel saved in"), "\(host.errors)")
        #expect(host.errors.contains("no host is called family"), "\(host.errors)")
        unsafe chmod(file, 0o644)
        let open = try run("listen family -o x.wav")
        #expect(open.end == .code(69) && open.errors.contains("chmod 600 \(file)"), "\(open.errors)")
    }
}
