import Glibc
import TenfourChannelKeys
import TenfourManagedChannel
import TenfourRelayCore
import TenfourRelayServer
import TenfourSession
import TenfourUV
import TestSupport
import Testing

/// A running relay with a channel that has an owner: real sockets, and files.
@Suite(.onItsOwnThread)
struct ManagedServerTests {
    private let family = ManagedFamily(memberCount: 2)
    private let folder = Folder()

    private var configuration: RelayServerConfiguration {
        var relay = family.configuration
        relay.names = []
        var configuration = RelayServerConfiguration(bind: .anyLoopbackPort, relay: relay)
        configuration.stateFolder = folder.path
        return configuration
    }

    private func join(_ index: UInt16, _ relay: RunningRelay) throws -> TestMember {
        try TestMember(
            .talk, of: family.keys, at: relay.port, expecting: family.expected,
            as: family.identity(index).agreementPair)
    }

    private func reason(_ body: () throws -> Void) -> Refusal.Reason? {
        do { try body() } catch { return (error as? TestMember.Refused)?.reason }
        return nil
    }

    /// Deposits a roster, and waits until the relay has stored it.
    private func deposit(_ roster: SignedRoster, by owner: inout TestMember) {
        for record in family.deposit(of: roster) { owner.say(managed: record.bytes) }
        for _ in 0..<20 {
            guard let record = owner.nextManaged() else { break }
            if case .deposited(let stored) = record, stored.id.rosterVersion == roster.version { return }
        }
        Issue.record("the roster was not stored")
    }

    @Test func aRestartLosesNothingThatWasAcknowledged() throws {
        let file = folder("family.members")
        var relay = try RunningRelay(configuration)
        #expect(reason { _ = try join(1, relay) } == .notAdmitted)
        var owner = try join(0, relay)
        deposit(family.roster(1), by: &owner)
        var status = stat()
        #expect(unsafe stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
        _ = try join(1, relay)
        relay.stop()

        relay = try RunningRelay(configuration)
        var bob = try join(1, relay)
        owner = try join(0, relay)
        // A new configuration with the same channel keeps the members, although it is read from the file again.
        relay.server.reload(configuration)
        relay.wait { relay.notices.contains(.reloaded) }
        deposit(family.roster(2, without: [1]), by: &owner)
        // NEWS may come first.
        while bob.goodbye == nil, bob.nextManaged() != nil {}
        #expect(bob.goodbye == .notAdmitted)
        #expect(reason { _ = try join(1, relay) } == .notAdmitted)
        _ = try join(2, relay)
        relay.wait { $0.relay.discards[.notAdmitted] == 1 }
        #expect(!relay.notices.contains { "\($0)".contains("members") }, "\(relay.notices)")
    }

    @Test func whatMembersGiveIsOnDiskWhenTheRelayStops() throws {
        let relay = try RunningRelay(configuration)
        var owner = try join(0, relay)
        deposit(family.roster(1), by: &owner)
        var bob = try join(1, relay)
        let before = Folder.bytes(of: folder("family.members"))
        // FETCHED of roster version 1 and no secret.
        bob.say(managed: [16, 0, 0, 0, 1] + [UInt8](repeating: 0, count: 110))
        bob.renew()
        let isAnswered = bob.renewalIsAnswered()
        #expect(isAnswered)
        relay.stop()
        let after = Folder.bytes(of: folder("family.members"))
        #expect(after.count == before.count && after != before)
    }

    @Test func aDamagedFileIsToldAndTakenForNone() throws {
        var relay = try RunningRelay(configuration)
        var owner = try join(0, relay)
        deposit(family.roster(1), by: &owner)
        relay.stop()
        var bytes = Folder.bytes(of: folder("family.members"))
        bytes[bytes.count / 2] ^= 1
        folder.write(bytes, to: "family.members")
        relay = try RunningRelay(configuration)
        relay.wait { !relay.notices.isEmpty }
        let told = relay.notices.compactMap {
            if case .membersUnknown(let channel, let reason) = $0 { channel + ": " + reason } else { nil }
        }
        #expect(told.count == 1 && told[0].contains("family.members is damaged"), "\(told)")
        #expect(reason { _ = try join(1, relay) } == .notAdmitted)
        owner = try join(0, relay)
        deposit(family.roster(1), by: &owner)
        _ = try join(1, relay)
    }

    @Test func aFolderThatTakesNothingIsTold() throws {
        let configuration = configuration
        let relay = try RunningRelay(configuration)
        var owner = try join(0, relay)
        // A folder in the file's place cannot be replaced, not even by root.
        #expect(unsafe mkdir(folder("family.members"), 0o700) == 0)
        defer { _ = unsafe rmdir(folder("family.members")) }
        for record in family.deposit(of: family.roster(1)) { owner.say(managed: record.bytes) }
        relay.wait {
            relay.notices.contains { if case .membersNotStored("family", _) = $0 { true } else { false } }
        }
        let answer = owner.nextManaged(within: 300)
        #expect(answer == nil, "nothing is acknowledged")
        #expect(unsafe rmdir(folder("family.members")) == 0)
        deposit(family.roster(1), by: &owner)
    }
}
