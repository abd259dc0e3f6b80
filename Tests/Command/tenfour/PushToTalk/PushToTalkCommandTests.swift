import Glibc
import TestSupport
import Testing

/// Processes, signals and `tenfour ptt`.
@Suite(.onItsOwnThread, .inRealTime) struct PushToTalkCommandTests {
    private let folder = Folder()

    /// It takes a hundred processes, since the one that fails may be one of many.
    @Test func aHolderThatIsKilledReleasesWithinHalfASecond() throws {
        let session = try TalkSession(in: folder)
        for attempt in 0..<100 {
            let holder = try session.pttDown()
            try #require(session.becomes("open"), "attempt \(attempt): \(holder.errors)")
            holder.send(SIGKILL)
            #expect(session.becomes("closed", within: TalkSession.limit), "attempt \(attempt)")
            _ = holder.wait()
        }
    }

    @Test(arguments: [SIGTERM, SIGINT, SIGHUP])
    func downHoldsUntilItIsEnded(signal: Int32) throws {
        let session = try TalkSession(in: folder)
        let holder = try session.pttDown()
        #expect(session.becomes("open"), "\(holder.errors)")
        #expect(session.status()?.holders.hasPrefix(#"["client:"#) == true)
        holder.send(signal)
        #expect(holder.wait() == .code(0) && holder.errors == "")
        #expect(session.becomes("closed"))
    }

    @Test func upEndsDown() throws {
        let session = try TalkSession(in: folder)
        let holder = try session.pttDown()
        #expect(session.becomes("open"), "\(holder.errors)")
        #expect(try session.ptt(["up"]).end == .code(0))
        #expect(holder.wait() == .code(0) && holder.errors == "")
        #expect(session.becomes("closed"))
    }

    @Test func toggleNeedsNoProcessThatStays() throws {
        let session = try TalkSession(in: folder)
        #expect(try session.ptt(["toggle"]).end == .code(0))
        #expect(session.status()?.microphone == "open" && session.status()?.holders == #"["session"]"#)
        #expect(try session.ptt(["toggle"]).end == .code(0))
        #expect(session.becomes("closed"))
    }

    @Test func statusIsALineOrJSON() throws {
        let session = try TalkSession(in: folder)
        #expect(try session.ptt(["status"]).output == "closed\n")
        #expect(
            try session.ptt(["status", "--json"]).output
                == #"{ "microphone": "closed", "holders": [], "remaining": null }"# + "\n")
        _ = try session.ptt(["toggle"])
        let line = try session.ptt(["status"]).output
        #expect(line.wholeMatch(of: /open, held by a toggle or --open, 1[78]\d s left\n/) != nil, "\(line)")
        let path = session.runtime.socket(of: session.program)
        #expect(try Program.run("tenfour", ["ptt", "status", "--socket", path]).output.hasPrefix("open"))
    }

    @Test func theEndOfTheSessionIsTold() throws {
        let session = try TalkSession(in: folder)
        let holder = try session.pttDown()
        #expect(session.becomes("open"), "\(holder.errors)")
        session.program.send(SIGINT)
        #expect(holder.wait() == .code(69) && holder.errors == "tenfour: the session has ended\n")
        #expect(session.program.wait() == .code(0))
        #expect(unsafe access(session.runtime.socket(of: session.program), F_OK) != 0, "the socket is removed")
    }

    @Test(arguments: ["down", "up", "toggle", "status"])
    func withoutASessionTheRemedyIsTold(command: String) throws {
        let runtime = RuntimeFolder()
        let result = try Program.run("tenfour", ["ptt", command], environment: ["XDG_RUNTIME_DIR": runtime.path])
        #expect(result.end == .code(69) && result.output == "")
        #expect(
            result.errors
                == "tenfour: no session runs: start `tenfour talk`, or name the session's socket with --socket\n")
        let named = try Program.run("tenfour", ["ptt", command, "--socket", "/nowhere/ptt.sock"])
        #expect(
            named.errors
                == "tenfour: cannot connect to /nowhere/ptt.sock: no session uses this socket; start `tenfour talk`, or leave --socket out\n"
        )
    }

    @Test(.needsRoot) func anotherUserIsTold() throws {
        let session = try TalkSession(in: folder)
        let path = session.runtime.socket(of: session.program)
        let user = OrdinaryUser()
        let other = try user.start("tenfour", ["ptt", "toggle", "--socket", path])
        #expect(other.wait() == .code(69))
        #expect(other.errors.contains("the session belongs to another user; run this command as that user"))
        #expect(session.status()?.microphone == "closed")
    }

    @Test func theNewestSessionIsTaken() throws {
        let runtime = RuntimeFolder()
        let older = try TalkSession(in: folder, runtime: runtime)
        let newer = try TalkSession(in: Folder(), runtime: runtime)
        _ = try older.ptt(["toggle"])
        #expect(newer.becomes("open") && older.status()?.microphone == "closed")
    }

    @Test func signalsHoldTheMicrophone() throws {
        let session = try TalkSession(in: folder)
        session.program.send(SIGUSR1)
        #expect(session.becomes("open") && session.status()?.holders == #"["signal"]"#)
        session.program.send(SIGUSR2)
        #expect(session.becomes("closed"))
    }

    @Test func theTimeOutClosesAndSaysSo() throws {
        let session = try TalkSession(["--time-out", "1s"], in: folder)
        let holder = try session.pttDown()
        #expect(session.program.says("tenfour: the microphone was open for 1 s, and is closed: let go"))
        #expect(session.status()?.microphone == "timed-out")
        #expect(holder.says("tenfour: the time is out: the microphone is closed until all have let go, and 2 s more"))
        holder.send(SIGTERM)
        #expect(session.program.says("tenfour: the microphone can be opened again"))
        #expect(session.becomes("closed"))
    }

    @Test(arguments: ["0", "-1s", "0.5s", "never"])
    func aTimeOutOfLessThanASecondIsRefused(time: String) throws {
        let result = try tenfour(["talk", "127.0.0.1:9", "--time-out", time])
        #expect(result.end == .code(2), "\(result.errors)")
    }

    @Test func withVOXTheVoiceHoldsTheMicrophone() throws {
        let silence = [Float](repeating: 0, count: 96_000)
        let input = Recording(channels: [silence + Tone.samples(seconds: 1) + silence + silence]).wav()
        let session = try TalkSession(["--vox"], in: folder, sending: input)
        #expect(session.program.says("tenfour: the microphone opens while you talk (VOX)"))
        #expect(session.becomes("open"), "\(session.program.errors)")
        #expect(session.status()?.holders ?? #"["voice"]"# == #"["voice"]"#)
        #expect(session.becomes("closed"))
    }

    /// Somebody who begins with an open microphone wants a call, not a transmission.
    @Test func withOpenThereIsNoTimeOutUnlessItIsSet() throws {
        let call = try TalkSession(["--open"], in: folder)
        #expect(try call.ptt(["status"]).output == "open, held by a toggle or --open\n")
        let short = try TalkSession(["--open", "--time-out", "5m"], in: Folder())
        let line = try short.ptt(["status"]).output
        #expect(line.wholeMatch(of: /open, held by a toggle or --open, (29\d|300) s left\n/) != nil, "\(line)")
    }
}
