import Glibc
import TenfourChannelKeys
import TenfourChannelMember
import TenfourManagedChannel
import TenfourRadio
import TenfourSeededRandom
import TestSupport
import Testing

/// The files of a membership in a managed channel.
struct MembershipFilesTests {
    private let folder = Folder()
    private let owner: MemberIdentity
    private let member: MemberIdentity

    init() {
        var randomness = SeededRandom(seed: 81)
        owner = MemberIdentity(using: &randomness)
        member = MemberIdentity(using: &randomness)
    }

    private func files(_ channelID: UInt128 = 7) -> MembershipFiles {
        MembershipFiles(in: folder.path, channelID: channelID)
    }

    private func roster(_ version: UInt32) throws -> SignedRoster {
        let entry = RosterEntry(index: 0, role: .talk, added: 0, key: owner.key, name: MemberName("Anna"))
        let contents = try RosterContents(version: version, time: 0, hasTagLists: false, entries: [entry])
        return try SignedRoster(signing: contents, by: owner, channelID: 7)
    }

    private var secretPath: String { folder("00000000000000000000000000000007.secret") }

    private func mode(of path: String) -> mode_t {
        var status = stat()
        return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private func outcome(of files: MembershipFiles) -> Bool? {
        var outcome: Bool?
        _ = waiting {
            outcome = files.takeOutcome()
            return outcome != nil
        }
        return outcome
    }

    @Test func nothingIsKnownWithoutFiles() throws {
        let state = try files().load()
        #expect(state.file == nil && state.roster == nil && state.verifiedKeys.isEmpty && files().heard.isEmpty)
        #expect(files().changedRoster() == nil && files().depositedVersion == 0)
    }

    @Test func theSecretIsWrittenForItsOwnerAloneAndErased() throws {
        let files = files()
        let content = LockedBytes(copying: Array("a secret".utf8).span)
        files.begin(.write(content))
        #expect(outcome(of: files) == true && mode(of: secretPath) == 0o600)
        #expect(try self.files().load().file == content)
        #expect(try self.files(8).load().file == nil, "another channel has other files")
        files.begin(.erase)
        #expect(outcome(of: files) == true && mode(of: secretPath) == 0)
    }

    @Test func aFileThatCannotBeWrittenIsReported() throws {
        let files = files()
        #expect(unsafe mkdir(secretPath, 0o700) == 0)
        files.begin(.write(LockedBytes(copying: [1].span)))
        #expect(outcome(of: files) == false)
        #expect(unsafe rmdir(secretPath) == 0)
    }

    @Test func aFileThatOthersMayReadIsRefused() throws {
        folder.write("x", to: "00000000000000000000000000000007.secret")
        unsafe chmod(secretPath, 0o644)
        let error = #expect(throws: RadioError.self) { try files().load() }
        #expect(error?.description.contains("run chmod 600") == true)
    }

    @Test func oneStationAtATimeHasTheFiles() {
        var first: MembershipFiles? = files()
        #expect(first?.lock() == true && first?.lock() == true)
        #expect(!files().lock())
        first = nil
        #expect(files().lock())
    }

    @Test func aStationNoticesAListThatTheOwnerHasSigned() throws {
        let (station, command) = (files(), files())
        station.keep(try roster(2))
        station.finish()
        #expect(station.changedRoster()?.version == 2 && station.changedRoster() == nil)
        try command.write(roster(3))
        #expect(station.changedRoster()?.version == 3 && station.changedRoster() == nil)
        // The relay's news of an older list does not replace the newer one.
        station.keep(try roster(2))
        station.reportDeposited(3)
        station.finish()
        #expect(try command.roster()?.version == 3 && command.depositedVersion == 3)
    }

    @Test func aDamagedListCountsAsNone() throws {
        try files().write(roster(2))
        let path = folder("00000000000000000000000000000007.roster")
        var bytes = try roster(2).fileContent
        bytes[bytes.count - 1] ^= 1
        folder.write(bytes, to: "damaged")
        #expect(unsafe rename(folder("damaged"), path) == 0 && chmod(path, 0o600) == 0)
        #expect(try files().load().roster == nil)
    }

    @Test func comparedKeysAndTimesAreRemembered() throws {
        let name = try #require(MemberName("Ben Müller"))
        try files().setVerified(owner.key, name)
        try files().setVerified(member.key, name)
        #expect(try files().load().verifiedKeys == [name: member.key])
        let files = files()
        files.keep(heard: [1: 100, 2: 200])
        files.keep(heard: [2: 150, 3: 300])
        files.finish()
        #expect(files.heard == [1: 100, 2: 200, 3: 300])
    }
}
