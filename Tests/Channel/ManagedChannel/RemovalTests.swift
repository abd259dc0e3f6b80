import TenfourAudioCore
import TenfourChannelKeys
import Testing

@testable import TenfourManagedChannel

/// The cost and the duration of a removal, and the audio that an adversary opens who has recorded everything.
struct RemovalTests {
    private func channel(_ memberCount: Int, seed: UInt64 = 1) throws -> SimulatedManagedChannel {
        var channel = try SimulatedManagedChannel(memberCount: memberCount, seed: seed)
        for index in 1...UInt16(memberCount) { channel.join(index) }
        channel.run(for: .seconds(25))
        return channel
    }

    private func holders(_ channel: SimulatedManagedChannel) -> Set<UInt16> {
        let newest = channel.stations[0]?.member.secret
        return Set(channel.stations.values.filter { $0.member.secret == newest && newest != nil }.map(\.index))
    }

    @Test func allMembersShareASecretThatTheRelayCannotOpen() throws {
        let channel = try channel(6)
        #expect(holders(channel) == [0, 1, 2, 3, 4, 5, 6])
        let secret = try #require(channel.stations[0]?.member.secret?.bytes.array)
        #expect(!channel.relayDisk.contains(sequence: secret))
        #expect(!channel.relayDisk.contains(sequence: Array("Member".utf8)), "the relay reads names")
    }

    /// 1000 members, 5 of them asleep; the relay starts anew while the owner deposits.
    @Test func aRemovalReachesAThousandMembersInTenSeconds() throws {
        var channel = try channel(1000)
        #expect(holders(channel).count == 1001)
        let asleep: [UInt16] = [3, 99, 500, 777, 1000]
        for index in asleep { channel.leave(index) }
        for index in channel.stations.keys { channel.stations[index]?.sentByteCount = 0 }
        let start = channel.now
        try channel.remove(17)
        channel.run(for: .seconds(1))
        #expect(channel.relay.rosterVersion == 1, "the deposit is not complete")
        var memory = channel.relay.memoryByteCount
        channel.stopRelay(isKilled: true)
        channel.run(for: .seconds(1))
        try channel.startRelay()
        for index in UInt16(0)...1000 where !asleep.contains(index) { channel.join(index) }
        channel.run(for: .seconds(4))
        memory = max(memory, channel.relay.memoryByteCount)
        channel.run(for: start + .seconds(10) - channel.now)

        let removed = try #require(channel.stations[17])
        #expect(removed.member.isRemoved && removed.member.secret == nil && removed.disk.isEmpty)
        #expect(removed.member.formerSecret == nil && channel.goodbyes == [17])
        #expect(channel.relay.admitted(removed.member.identity.key.agreementKey) == nil)
        let awake = Set(0...1000).subtracting(asleep).subtracting([17])
        #expect(holders(channel) == awake)
        #expect(channel.stations[0]?.member.secret?.id == GroupSecretID(rosterVersion: 2, generation: 1, signer: 0))
        // None was sealed for the member that is gone.
        #expect(!channel.recorded.contains { $0.1.rosterVersion == 2 && $0.2.index == 17 })
        let costs = awake.subtracting([0]).map { channel.stations[$0]?.sentByteCount ?? 0 }
        #expect(costs.reduce(0, +) / costs.count <= 400 && costs.max() ?? 0 <= 400, "\(costs.max() ?? 0) bytes")
        #expect(memory / 1000 <= 512, "\(memory / 1000) bytes")

        for index in asleep { channel.join(index) }
        channel.run(for: .seconds(1))
        #expect(holders(channel) == awake.union(asleep))
        // Packets that were on their way were played for 10 s.
        channel.run(for: .seconds(10))
        for index in 1...SimulatedManagedChannel.verifyingMemberCount {
            #expect(channel.stations[index]?.member.formerSecret == nil)
        }
    }

    @Test func aRemovalReachesAllThoughAThirdOfTheRecordsIsLost() throws {
        var channel = try channel(40, seed: 2)
        channel.loss = 0.33
        try channel.remove(7)
        channel.run(for: .seconds(60))
        #expect(holders(channel) == Set(0...40).subtracting([7]))
        #expect(channel.stations.values.allSatisfy { $0.member.isRemoved == ($0.index == 7) })
    }

    /// The second removal comes while the first one is being deposited, and before it has begun.
    @Test(arguments: [0, 50, 100, 150, 200, 1000])
    func twoRemovalsAtOnceTakeBothMembersOut(milliseconds: Int) throws {
        var channel = try channel(6, seed: 6)
        try channel.remove(2)
        channel.run(for: .milliseconds(milliseconds))
        try channel.remove(5)
        channel.run(for: .seconds(10))
        #expect(holders(channel) == [0, 1, 3, 4, 6])
        #expect(channel.stations[0]?.member.secret?.id.rosterVersion == 3)
        #expect([2, 5].allSatisfy { channel.stations[$0]?.member.isRemoved ?? false })
        #expect(channel.relay.rosterVersion == 3)
    }

    @Test func aKilledRelayLosesNothingThatItHasAcknowledged() throws {
        var channel = try channel(5, seed: 3)
        try channel.remove(2)
        channel.run(for: .seconds(1))
        channel.stopRelay(isKilled: true)
        try channel.startRelay()
        #expect(channel.relay.rosterVersion == 2 && channel.relay.secretID.rosterVersion == 2)
        let gone = try #require(channel.stations[2]?.member.identity.key.agreementKey)
        #expect(channel.relay.admitted(gone) == nil)
    }

    @Test func aMemberThatWasAwayForEightDaysComesBackByItself() throws {
        var channel = try channel(3, seed: 4)
        channel.leave(2)
        channel.sleep(for: .seconds(4000))
        let sealed = try #require(channel.stations[0]?.member.secret?.id)
        for index: UInt16 in [0, 1, 3] { channel.leave(index) }
        channel.sleep(for: .seconds(8 * 86_400))
        channel.join(0)
        channel.run(for: .seconds(15))
        let newest = try #require(channel.stations[0]?.member.secret?.id)
        #expect(sealed.generation == 2 && newest.generation == 3)
        #expect(channel.stations[2]?.member.secret?.id.generation == 1)
        channel.join(2)
        channel.run(for: .seconds(25))
        #expect(channel.stations[2]?.member.secret?.id == newest)
        #expect(channel.stations[2]?.member.refusals[.unopened] ?? 0 > 0, "an expired prekey has opened a secret")
    }

    /// Three hours are recorded, then every file of every member is taken.
    @Test func oldRecordingsStayClosed() throws {
        var channel = try channel(5, seed: 5)
        channel.sleep(for: .seconds(1800))
        let away = UInt16(4)
        let fetched = try #require(channel.stations[away]?.member.secret?.id)
        channel.leave(away)
        channel.sleep(for: .seconds(9000))
        let end = channel.now
        #expect(Set(channel.recorded.map(\.1)).count >= 3)

        var opened: [UInt16: Set<GroupSecretID>] = [:]
        for station in channel.stations.values {
            let parsed = GroupSecretFile(parsing: station.disk.span, channelID: channel.channelID)
            let file = try #require(parsed)
            if let secret = file.secret { opened[station.index, default: []].insert(secret.id) }
            for (_, id, entry) in channel.recorded {
                for pair in file.prekeys.pairs {
                    // All identities are known, too.
                    let secret = entry.sealed.opened(
                        id, with: pair, of: station.member.identity, index: entry.index, signer: channel.owner.key,
                        channelID: channel.channelID)
                    if secret != nil { opened[station.index, default: []].insert(id) }
                }
            }
        }
        let newest = try #require(channel.stations[0]?.member.secret?.id)
        for index in channel.stations.keys where index != away {
            // The newest secret is in use, and at most 66 minutes old: nothing older than two hours opens.
            #expect(opened[index] == [newest], "member \(index)")
        }
        let drawn = try #require(channel.recorded.first { $0.1 == newest }?.at)
        #expect(end - drawn <= .seconds(7200))
        let ofAway = try #require(opened[away])
        #expect(ofAway.allSatisfy { $0 >= fetched }, "what was said before its last fetch opens")
        // The test can tell: its prekey opens the secrets that were sealed for it meanwhile.
        #expect(ofAway.count > 1)
    }
}

extension [UInt8] {
    fileprivate func contains(sequence: [UInt8]) -> Bool {
        guard count >= sequence.count else { return false }
        return indices.dropLast(sequence.count - 1).contains { self[$0...].starts(with: sequence) }
    }
}
