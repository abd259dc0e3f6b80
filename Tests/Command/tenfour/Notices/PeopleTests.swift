import Foundation
import Glibc
import TenfourChannelKeys
import TenfourChannelMember
import TenfourCommandSupport
import TenfourPackets
import TenfourRadio
import TenfourSession
import TestSupport
import Testing

@testable import tenfour

/// Tests the texts about the members present.
struct PeopleWordsTests {
    private func talker(_ id: UInt64, _ name: String, _ microphone: MemberInfo.Microphone = .closed) -> ChannelMember {
        ChannelMember(
            id: id,
            info: MemberInfo(
                name: name, microphone: microphone, ssrc: SSRC(UInt32(id)), joined: UInt32(time(nil)),
                microphoneChanged: UInt32(time(nil))),
            isListed: true)
    }

    private func people(_ talkers: [ChannelMember], unlisted: Int = 0, listeners: Int = 0) -> People {
        var members = ChannelMembers()
        (members.talkers, members.unidentifiedCount, members.listenerCount) = (talkers, unlisted, listeners)
        return People(members)
    }

    @Test func theShortForm() {
        #expect(people([]).summary == "nobody else is here")
        #expect(people([talker(1, "Ben"), talker(2, "Anna", .open)]).summary == "2 here: Anna (open), Ben")
        #expect(people([talker(1, "Ben")], unlisted: 1, listeners: 1).summary == "3 here: Ben, 1 more, 1 listener")
        #expect(people([], unlisted: 2, listeners: 3).summary == "5 here: 2 can talk, 3 listeners")
        let crowd = (1...9).map { talker($0, "T\($0)") }
        #expect(people(crowd, listeners: 200).summary == "209 here: T1, T2, T3, 6 more, 200 listeners")
        #expect(people([talker(1, "")]).summary == "1 here: somebody")
        #expect(people([], listeners: 2).summary == "2 listeners here")
        #expect(people([], listeners: 1).lines() == ["1 listener here"])
    }

    /// An unnamed member is called the same in lists, events and the status line.
    @Test func anUnnamedMemberHasOneNameEverywhere() {
        let hidden = talker(7, "")
        var names = TalkerNames()
        names.apply(.memberJoined(hidden))
        #expect(names[SSRC(7)] == "somebody" && People.name(of: hidden) == "somebody")
        names.apply(.memberChanged(talker(7, "Anna")))
        #expect(names[SSRC(7)] == "Anna")
    }

    @Test func theListFitsInEightyColumns() {
        let lines = people(
            [talker(1, String(repeating: "W", count: 64), .open), talker(2, "Ben")], unlisted: 2, listeners: 900
        ).lines()
        #expect(lines.count == 5)
        #expect(lines.allSatisfy { "tenfour: \($0)".count <= 80 }, "\(lines)")
        #expect(lines[2].hasPrefix("  Ben "))
        #expect(lines[1].contains("here since ") && lines[1].contains("mic open"))
    }

    @Test func wideNamesAreAlignedAndCut() {
        let lines = people([
            talker(1, String(repeating: "東", count: 40), .open), talker(2, "Ben"), talker(3, "e\u{301}"),
        ]).lines()
        #expect(lines.allSatisfy { "tenfour: \($0)".columnCount <= 80 }, "\(lines)")
        let columns = lines.dropFirst().map { $0.components(separatedBy: "  here since")[0].columnCount }
        #expect(columns == [25, 25, 25], "\(lines)")
    }

    @Test func microphonesAreToldWhereMoreIsAskedFor() {
        var channelStatus = ChannelStatus(
            RadioConfiguration(local: Endpoint(.anyV4, port: 0), rtpSession: RTPSessionConfiguration()))
        let (closed, open) = (talker(1, "Anna"), talker(1, "Anna", .open))
        #expect(channelStatus.memberNotice(for: .memberJoined(closed), verbose: false) == "Anna is here")
        channelStatus.apply(.memberJoined(closed))
        #expect(channelStatus.memberNotice(for: .memberChanged(open), verbose: false) == nil)
        #expect(channelStatus.memberNotice(for: .memberChanged(open), verbose: true) == "Anna opens the microphone")
        channelStatus.apply(.memberChanged(open))
        #expect(channelStatus.memberNotice(for: .memberChanged(open), verbose: true) == nil, "only the SSRC changed")
        #expect(channelStatus.memberNotice(for: .memberChanged(closed), verbose: true) == "Anna closes the microphone")
        #expect(channelStatus.memberNotice(for: .memberLeft(open), verbose: false) == "Anna has left")
        channelStatus.apply(.memberLeft(open))
        #expect(channelStatus.lists(SSRC(1)), "the end of a talkspurt causes no notice")
    }

    @Test func aMomentIsToldByTheClockOrByTheDay() {
        let now = 1_700_000_000
        #expect(People.clock(now - 60, now: now).wholeMatch(of: /\d\d:\d\d/) != nil)
        #expect(People.clock(now - 3 * 86_400, now: now).wholeMatch(of: /[A-Z][a-z]{2} [ \d]\d/) != nil)
        // Times as a peer with a wrong clock might send them.
        for seconds in [0, Int(UInt32.max)] { #expect(!People.clock(seconds, now: now).isEmpty) }
    }

    @Test func fiftyNamesFitOnATerminal() {
        let members = (1...50).map { talker($0, String(repeating: "x", count: 10) + "\($0)") }
        var who = WhoIsHere(isChannel: true, isAsked: true)
        let lines = who.lines(of: .listeners(ListenerPage(members: members, position: 0, total: 120)))
        #expect(lines.count <= 22 && lines.allSatisfy { "tenfour: \($0)".count <= 80 }, "\(lines)")
        #expect(lines.last == "  w shows more of the 120, from number 51 on")
        #expect(who.lines(of: .listeners(ListenerPage(members: members, position: 0, total: 120))).isEmpty)
        var later = WhoIsHere(isChannel: true, isAsked: true)
        let end = later.lines(of: .listeners(ListenerPage(members: [], position: 120, total: 120)))
        #expect(end == ["there are no more listeners"])
    }
}

/// Tests how members are shown.
@Suite(.onItsOwnThread, .inRealTime) struct PeopleTests {
    private let folder = Folder()
    private let port = UDPPort.free()
    private let terminal = Terminal()

    init() { folder.write(longTone, to: "long.wav") }

    private func shows(_ program: Program, _ isAsItShouldBe: (String) -> Bool) -> Bool {
        program.wait(.seconds(30)) { isAsItShouldBe(terminal.statuses.last ?? "") || !program.isRunning }
            && isAsItShouldBe(terminal.statuses.last ?? "")
    }

    /// Starts a station whose microphone is closed.
    private func talker(_ name: String, on port: UInt16, with other: UInt16) throws -> Program {
        try Program(
            "tenfour",
            [
                "talk", "127.0.0.1:\(other)", "-p", "\(port)", "--name", name, "--input", "long.wav", "-o",
                "\(name).wav",
            ],
            in: folder)
    }

    @Test func aPartnerWithAClosedMicrophoneIsSeen() throws {
        let receiver = try Program(
            "tenfour", ["recv", "-p", "\(port)", "-o", "heard.wav"], in: folder, terminal: terminal)
        #expect(shows(receiver) { $0 == "nobody is heard yet" }, "\(terminal.shown)")
        let bob = try talker("Bob", on: port + 2, with: port)
        #expect(shows(receiver) { $0 == "1 here: Bob" }, "\(terminal.shown)")
        #expect(terminal.shown.contains("127.0.0.1:\(port + 2) is Bob and sends no audio yet"), "\(terminal.shown)")
        terminal.type("w")
        #expect(receiver.says("Bob  here since "), "\(terminal.shown)")
        #expect(terminal.inOneLine.contains("mic closed since "), "\(terminal.shown)")
        terminal.type("?")
        #expect(receiver.says("w lists who is here"), "\(terminal.shown)")
        bob.send(SIGINT)
        #expect(receiver.says("Bob has left"), "\(terminal.shown)")
        #expect(shows(receiver) { $0.hasPrefix("nobody is heard") }, "\(terminal.shown)")
        terminal.type("q")
        #expect(receiver.wait() == .code(0))
    }

    @Test func nobodyAnswersOrSomebodyDoes() throws {
        let alice = try Program(
            "tenfour",
            [
                "talk", "127.0.0.1:\(port + 2)", "-p", "\(port)", "--input", "long.wav", "-o", "alice.wav",
                "--anonymous",
            ],
            in: folder, terminal: terminal)
        #expect(shows(alice) { $0.hasSuffix("nobody answers") }, "\(terminal.shown)")
        let bob = try talker("Bob", on: port + 2, with: port)
        #expect(shows(alice) { $0.hasSuffix("1 here: Bob") }, "\(terminal.shown)")
        #expect(bob.says("127.0.0.1:\(port) is here and sends no audio yet"), "\(bob.errors)")
        for program in [alice, bob] {
            program.send(SIGINT)
            #expect(program.wait() == .code(0), "\(program.errors)")
        }
    }

    @Test func theEndOfTheInputIsReported() throws {
        folder.write(Recording(channels: [Tone.samples(seconds: 0.5)]).wav(), to: "short.wav")
        let talker = try Program(
            "tenfour",
            ["talk", "127.0.0.1:\(port + 2)", "-p", "\(port)", "--open", "--input", "short.wav", "-o", "heard.wav"],
            in: folder, terminal: terminal)
        #expect(talker.says("short.wav has ended: nothing more is sent"), "\(terminal.shown)")
        #expect(shows(talker) { $0.hasPrefix("nothing more is sent  |") }, "\(terminal.shown)")
        talker.send(SIGINT)
        #expect(talker.wait() == .code(0), "\(terminal.shown)")
        #expect(terminal.shown.components(separatedBy: "has ended").count == 2, "\(terminal.shown)")
    }

    @Test func aChannelTellsWhoIsInIt() throws {
        let made = try tenfour(["channel", "new", "family", "--relay", "127.0.0.1:\(port)"]).output
        let lines = made.split(separator: "\n").map(String.init)
        try #require(lines.count == 3)
        folder.write("bind 127.0.0.1:\(port)\n\(lines[2])", to: "relay.conf")
        let relay = try Program("tenfour", ["relay", "--config", "relay.conf", "--status-socket", "s"], in: folder)
        try #require(relay.says("relaying on"), "\(relay.errors)")
        let listener = try Program(
            "tenfour", ["listen", "-o", "heard.wav", "--name", "Cleo"], in: folder,
            environment: ["TENFOUR_LINK": lines[1]],
            terminal: terminal)
        #expect(listener.says("nobody else is here"), "\(terminal.shown)")
        let anna = try Program(
            "tenfour", ["talk", "--name", "Anna", "--input", "long.wav", "-o", "anna.wav", "-v", "--open"], in: folder,
            environment: ["TENFOUR_LINK": lines[0]])
        #expect(listener.says("Anna is here"), "\(terminal.shown)")
        #expect(anna.says("1 listener here"), "\(anna.errors)")
        #expect(shows(listener) { $0.hasPrefix("1 here: Anna (open)") }, "\(terminal.shown)")
        let second = try Program(
            "tenfour", ["listen", "-o", "other.wav", "--anonymous"], in: folder, environment: ["TENFOUR_LINK": lines[1]]
        )
        #expect(shows(listener) { $0.hasPrefix("2 here: Anna (open), 1 listener") }, "\(terminal.shown)")
        terminal.type("w")
        #expect(listener.says("Anna  here since "), "\(terminal.shown)")
        second.send(SIGINT)
        anna.send(SIGINT)
        #expect(listener.says("Anna has left"), "\(terminal.shown)")
        #expect(!terminal.inOneLine.contains("is not heard"), "\(terminal.shown)")
        #expect(terminal.shown.components(separatedBy: "Anna has left").count == 2, "\(terminal.shown)")
        terminal.type("q")
        #expect(listener.wait() == .code(0))
        for program in [anna, second] { program.wait() }
    }

    @Test func aNameIsGivenOrKeptBack() throws {
        let both = try tenfour(["recv", "--name", "Anna", "--anonymous"])
        #expect(both.end == .code(2) && both.errors.contains("--anonymous hides your name"), "\(both.errors)")
    }
}
