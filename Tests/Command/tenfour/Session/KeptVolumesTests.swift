import Dispatch
import Glibc
import TenfourAudioCore
import TenfourChannelMember
import TenfourManagedChannel
import TenfourPackets
import TenfourSession
import TestSupport
import Testing

@testable import TenfourRadio
@testable import tenfour

/// The volumes of talkers that are kept by name, over sessions that were not started.
struct KeptVolumesTests {
    private let folder = Folder()
    private var path: String { folder("volumes") }

    /// A talk that begins: what a restart of the program or another call makes anew.
    private struct Talk {
        let session: RadioSession
        let configuration: RadioConfiguration
        let control: VolumeControl

        init(_ path: String) throws {
            var configuration = RadioConfiguration(
                local: Endpoint(.loopbackV4, port: 0), rtpSession: RTPSessionConfiguration())
            configuration.output = .clock
            self.configuration = configuration
            session = try RadioSession(configuration)
            control = VolumeControl([session], KeptVolumeFile(path: path))
        }

        func place(_ ssrc: UInt32) -> ListedTalker.Place { .init(session: 0, ssrc: SSRC(ssrc)) }

        /// These talkers are here now.
        func follow(_ talkers: (ssrc: UInt32, name: String?)...) {
            follow(talkers)
        }

        func follow(_ talkers: [(ssrc: UInt32, name: String?)]) {
            control.follow(talkers.map { .init(place: place($0.ssrc), name: $0.name ?? "?", keptName: $0.name) })
        }

        func isMuted(_ ssrc: UInt32) -> Bool { session.volume(of: SSRC(ssrc)) == 0 }
    }

    @Test func aMutedTalkerIsMutedAfterARestartAndWithAnotherSSRC() throws {
        let first = try Talk(path)
        first.follow((1, "Bob"), (2, "Anna"))
        first.control.setVolume(-6, of: first.place(1))
        first.control.setMuted(true, first.place(1))
        first.control.setVolume(3, of: first.place(2))
        #expect(!first.isMuted(7))
        first.follow((7, "Bob"), (2, "Anna"))
        #expect(first.isMuted(7), "another SSRC")
        first.follow((2, "Anna"))
        first.follow((2, "Anna"), (1, "Bob"))
        #expect(first.isMuted(1), "gone and back")

        let second = try Talk(path)
        #expect(!second.isMuted(8))
        second.follow((8, "Bob"), (9, "Anna"), (10, "Carl"))
        #expect(second.isMuted(8) && second.control.volume(of: second.place(8)) == -6)
        #expect(second.control.volume(of: second.place(9)) == 3)
        #expect(second.control.text(of: second.place(10)) == nil)
        second.control.setMuted(false, second.place(8))
        second.control.setVolume(0, of: second.place(8))

        let third = try Talk(path)
        third.follow((8, "Bob"))
        #expect(third.control.text(of: third.place(8)) == nil)
        #expect(third.control.overall == 0)
    }

    @Test func aNameThatComesLaterAndOneThatChanges() throws {
        let first = try Talk(path)
        first.follow((1, "Bob"))
        first.control.setMuted(true, first.place(1))
        let talk = try Talk(path)
        talk.follow((5, nil))
        #expect(!talk.isMuted(5))
        talk.follow((5, "Bob"))
        #expect(talk.isMuted(5), "the name came with a report")
        talk.follow((5, "Anna"))
        #expect(talk.isMuted(5), "a new name is no way around")
        talk.follow((5, "Anna"), (6, "Anna"))
        #expect(!talk.isMuted(6), "and mutes nobody else")
    }

    @Test func aNamelessTalkersVolumeEndsWithTheSession() throws {
        let first = try Talk(path)
        first.follow((1, nil))
        first.control.setMuted(true, first.place(1))
        #expect(first.isMuted(1) && !Folder.entries(of: folder.path).contains("volumes"))
        first.follow((2, nil))
        #expect(!first.isMuted(2))
    }

    @Test func aVolumeFromBeforeTheNameIsKeptUnderTheFirstName() throws {
        let first = try Talk(path)
        first.follow((1, nil), (2, nil), (3, nil))
        first.control.setMuted(true, first.place(1))
        first.control.setVolume(-6, of: first.place(2))
        first.follow((1, "Bob"), (2, "Anna"), (3, nil))
        first.follow((1, "Carl"), (2, "Anna"), (3, nil))
        let second = try Talk(path)
        second.follow((4, "Bob"), (5, "Anna"), (6, "Carl"), (7, nil))
        #expect(second.isMuted(4) && second.control.volume(of: second.place(5)) == -6)
        #expect(!second.isMuted(6), "only the first name")
        second.control.setVolume(-3, of: second.place(7))
        second.follow((4, "Bob"), (7, "Bob"))
        #expect(second.isMuted(7), "a mute has precedence")
    }

    /// Somebody appears sixteen times under the name of a muted talker; a session keeps sixteen volumes.
    @Test func manyWithAKeptNameUnmuteNobody() throws {
        let first = try Talk(path)
        first.follow((1, "Bob"))
        first.control.setMuted(true, first.place(1))
        let talk = try Talk(path)
        talk.follow((1, "Carl"))
        talk.control.setMuted(true, talk.place(1))
        let crowd = (100..<116).map { (ssrc: UInt32($0), name: "Bob" as String?) }
        talk.follow([(1, "Carl")] + crowd)
        #expect(talk.isMuted(1) && crowd.filter { talk.isMuted($0.ssrc) }.count == 15)
        #expect(!talk.isMuted(115))
        talk.follow([(1, "Carl")] + crowd.dropFirst())
        #expect(talk.isMuted(1) && talk.isMuted(115), "there is room for it now")
        talk.follow((200, "Bob"))
        #expect(talk.isMuted(200) && !talk.isMuted(101), "those who left make room")
        talk.follow([(1, "Carl"), (300, "Dora")] + crowd)
        talk.control.setMuted(true, talk.place(300))
        #expect(talk.isMuted(300) && talk.isMuted(1), "the user's own mutes stay")
    }

    @Test func aKeptMuteTakesThePlaceOfAVolumeAndAKeptVolumeDoesNot() throws {
        let first = try Talk(path)
        first.follow((1, "Bob"), (2, "Anna"))
        first.control.setMuted(true, first.place(1))
        first.control.setVolume(-6, of: first.place(2))
        let talk = try Talk(path)
        let guests = (100..<116).map { (ssrc: UInt32($0), name: "Guest \($0)" as String?) }
        talk.follow(guests)
        for guest in guests { talk.control.setVolume(3, of: talk.place(guest.ssrc)) }
        talk.follow(guests + [(2, "Anna")])
        #expect(talk.control.volume(of: talk.place(2)) == 0 && talk.control.volume(of: talk.place(100)) == 3)
        talk.follow(guests + [(1, "Bob")])
        #expect(talk.isMuted(1) && talk.control.volume(of: talk.place(100)) == 0)
        #expect(guests.dropFirst().allSatisfy { talk.control.volume(of: talk.place($0.ssrc)) == 3 })
        talk.follow([(1, "Bob"), (100, "Guest 100")])
        #expect(talk.isMuted(1) && talk.control.volume(of: talk.place(100)) == 3, "there is room for it again")
    }

    /// A session with `--quiet`, without keys.
    @Test func aQuietSessionAppliesThem() throws {
        let first = try Talk(path)
        first.follow((1, "Bob"))
        first.control.setMuted(true, first.place(1))
        let talk = try Talk(path)
        let session = talk.session
        let channels = try ChannelGroup(
            session, talk.configuration, named: "", [], verbose: false, keepingVolumes: KeptVolumeFile(path: path))
        let observer = SessionObserver(
            session, talk.configuration, microphone: nil, verbose: false, keepsSeconds: false)
        let runner = SessionRunner(quiet: true, verbose: false)
        let loop = SessionLoop(runner, talk.configuration, observer, channels, nil, nil)
        let endpoint = Endpoint(.v4(0x0A00_0007), port: 5004)
        _ = observer.apply(.reporterAppeared(SSRC(2), "Bob", from: endpoint))
        var snapshot = RadioSnapshot(
            rtpSession: RTPSession(
                identity: Identity(ssrc: SSRC(9)), configuration: talk.configuration.rtpSession, at: .start),
            elapsed: .seconds(1))
        var talker = RadioSnapshot.TalkerSnapshot(ssrc: SSRC(2))
        talker.endpoint = endpoint
        snapshot.talkers = [talker]
        session.state.publish(snapshot, at: .start)
        #expect(channels.talkers(observer).map(\.keptName) == ["Bob"])
        loop.update(with: snapshot)
        #expect(talk.isMuted(2))
        snapshot.managed = RadioSnapshot.ManagedSnapshot(secretAge: .zero)
        session.state.publish(snapshot, at: .start)
        #expect(channels.talkers(observer).map(\.keptName) == [nil], "the channel's owner has not named the talker")
    }

    /// Four programs, each with its own names.
    @Test func writersAtOnceLoseNothing() {
        let path = path
        DispatchQueue.concurrentPerform(iterations: 4) { writer in
            let file = KeptVolumeFile(path: path)
            for index in 0..<25 { file.set(TalkerVolume(decibels: 3, isMuted: false), of: "\(writer) \(index)") }
        }
        let read = KeptVolumeFile(path: path)
        let names = (0..<4).flatMap { writer in (0..<25).map { "\(writer) \($0)" } }
        #expect(names.filter { read.volume(of: $0) == nil } == [])
    }

    @Test func theFileIsPrivateAndTwoTalksShareIt() throws {
        let (one, other) = (KeptVolumeFile(path: path), KeptVolumeFile(path: path))
        one.set(TalkerVolume(decibels: 3, isMuted: false), of: "Anna")
        other.set(TalkerVolume(decibels: -3, isMuted: true), of: "Bob B.")
        var status = stat()
        #expect(unsafe stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(Folder.text(of: path) == "tenfour talker volumes 1\nheard 3.0 Anna\nmuted -3.0 Bob B.\n")
        let read = KeptVolumeFile(path: path)
        #expect(read.problem == nil && read.volume(of: "Bob B.") == TalkerVolume(decibels: -3, isMuted: true))
    }

    @Test func aBadOrForeignFileIsIgnoredWithASentence() throws {
        folder.write("something else\n", to: "bad")
        #expect(unsafe chmod(folder("bad"), 0o600) == 0)
        let bad = KeptVolumeFile(path: folder("bad"))
        bad.set(TalkerVolume(decibels: 3, isMuted: false), of: "Anna")
        #expect(
            bad.problem
                == "the volumes of talkers are not kept: \(folder("bad")) is damaged, or another program's: move it away"
        )
        #expect(Folder.text(of: folder("bad")) == "something else\n", "it is left as it is")

        folder.write("tenfour talker volumes 1\nmuted 0.0 Anna\n", to: "open")
        #expect(unsafe chmod(folder("open"), 0o666) == 0)
        let open = KeptVolumeFile(path: folder("open"))
        #expect(open.volume(of: "Anna") == nil && open.problem?.contains("chmod 600") == true)
        #expect(KeptVolumeFile(path: "/proc/none/volumes").problem == nil)
    }

    @Test func theTableIsBoundedAndSkipsWhatItCannotRead() throws {
        var table = KeptVolumes()
        for index in 0..<150 { table.set(TalkerVolume(decibels: 1, isMuted: false), of: "name \(index)") }
        #expect(table.entries.count == 100 && table.volume(of: "name 49") == nil && table.volume(of: "name 50") != nil)
        #expect(KeptVolumes(parsing: table.text) == table)
        table.set(.usual, of: "name 50")
        #expect(table.volume(of: "name 50") == nil)
        for name in ["", "two\nlines", String(repeating: "x", count: 300)] {
            table.set(TalkerVolume(decibels: 1, isMuted: true), of: name)
        }
        #expect(table.entries.count == 99)
        let read = KeptVolumes(
            parsing: "tenfour talker volumes 1\n\nheard\nheard x A\nloud 1 A\nheard inf A\nmuted 2 B\n")
        #expect(read?.entries.map(\.name) == ["B"])
        #expect(KeptVolumes(parsing: "") == nil && KeptVolumes(parsing: "{}") == nil)
    }

    @Test func aStatedNameIsNeitherAnAddressNorAPlaceholder() throws {
        var names = TalkerNames()
        let endpoint = Endpoint(.v4(0x0A00_0007), port: 5004)
        names.apply(.sourceAppeared(SSRC(1), from: endpoint))
        #expect(names.statedName(of: SSRC(1)) == nil)
        names.apply(.sourceNamed(SSRC(1), "Bob"))
        #expect(names.statedName(of: SSRC(1)) == "Bob")
        #expect(names.statedName(of: SSRC(1), isSigned: true) == nil, "the channel's owner has not named the talker")
        let carl = try #require(MemberName("Carl"))
        names.apply(.managed(.talkerKnown(SSRC(1), SignedTalker(index: 3, name: carl, isVerified: false))))
        #expect(names.statedName(of: SSRC(1), isSigned: true) == "Carl")
        names.apply(.sourceNamed(SSRC(2), ""))
        #expect(names.statedName(of: SSRC(2)) == nil)
    }
}
