import TenfourAudioCore
import TenfourChannelKeys
import TenfourPackets
import TestSupport
import Testing

@testable import TenfourManagedChannel

/// An adversary has recorded everything on the relay for three hours, also what signers have deposited, and then takes all
/// files of the members and the relay.
struct ForwardSecrecyTests {
    /// The keys that somebody finds in the files of one member.
    private struct TakenFiles {
        let identity: MemberIdentity
        let index: UInt16
        let file: GroupSecretFile

        init(_ number: Int, _ content: LockedBytes) throws {
            identity = SignedFamily.identities[number]
            index = UInt16(number)
            file = try #require(
                content.withBytes { GroupSecretFile(parsing: $0, channelID: SignedFamily.channelID) })
        }

        /// The group secret in the file, and those that its prekeys open in recorded deposits.
        func secrets(_ deposits: [GroupSecretDeposit]) -> [GroupSecret] {
            let opened = deposits.flatMap { deposit in
                deposit.entries.filter { $0.index == index }.flatMap { entry in
                    file.prekeys.pairs.compactMap { pair in
                        entry.sealed.opened(
                            deposit.id, with: pair, of: identity, index: index, signer: SignedFamily.owner.key,
                            channelID: SignedFamily.channelID)
                    }
                }
            }
            return [file.secret].compactMap(\.self) + opened
        }
    }

    /// The times of the recorded packets that decrypt with these secrets and the channel's link.
    private func opened(_ recorded: [(at: Instant, bytes: [UInt8])], with secrets: [GroupSecret]) -> [Instant] {
        var times: [Instant] = []
        for secret in secrets {
            let root = secret.mediaRoot(from: Family.talk.mediaRoot, channelID: SignedFamily.channelID)
            var tried: Set<Epoch> = []
            for (_, bytes) in recorded where bytes[0] == ControlPacket.firstByte {
                guard let announcement = try? SignedAnnouncement(parsing: bytes.span.extracting(4...)),
                    announcement.isAuthentic(under: root), tried.insert(announcement.content.epoch).inserted
                else { continue }
                times += mediaTimes(recorded, announcement.content, under: root)
            }
        }
        return times.sorted()
    }

    private func mediaTimes(
        _ recorded: [(at: Instant, bytes: [UInt8])], _ epoch: AnnouncedEpoch, under root: MediaRoot
    ) -> [Instant] {
        let key = root.masterKey(epoch.suite, ssrc: epoch.ssrc, epoch: epoch.epoch)
        guard
            var context = try? SRTPContext(receiving: key, ssrc: epoch.ssrc, at: epoch.index, packetsPerSecond: 400)
        else { return [] }
        return recorded.compactMap { at, packet in
            guard packet[0] != ControlPacket.firstByte, packet.span.number(at: 8) == epoch.ssrc.rawValue else {
                return nil
            }
            var bytes = packet
            var span = bytes.mutableSpan
            return (try? context.unprotect(&span)) == nil ? nil : at
        }
    }

    /// Ben says something for 2 s every 5 minutes. Cleo is there all the time, and Dora leaves after 100 minutes.
    @Test func takenFilesOpenNothingOlderThanTwoHours() throws {
        let relay = SignedFamily.relay()
        let speech = Speech(beginning: .start + .seconds(20), count: nil) { $0 % 15_000 < 100 }
        let members = [
            SignedFamily.member(0, roster: try SignedFamily.roster(1, [0, 1, 2, 3])),
            SignedFamily.member(1, speech: speech), SignedFamily.member(2), SignedFamily.member(3),
        ]
        let air = Airwaves(members, relay)
        air.run(seconds: 6_000)
        members[3].leave(at: air.now)
        air.flush(3)
        air.run(seconds: 4_800)

        #expect(members[2].heard(from: 2).count == 3_600, "everything was heard live")
        let media = relay.recorded.filter { $0.bytes[0] != ControlPacket.firstByte }
        #expect(media.count == 3_600)
        let online = try (0..<3).flatMap { try TakenFiles($0, #require(members[$0].disk)).secrets(relay.deposits) }
        let times = opened(relay.recorded, with: online)
        let oldest = try #require(times.first)
        let newest = try #require(times.last)
        #expect(air.now - oldest <= .seconds(7_200))
        #expect(air.now - newest <= .seconds(300), "the adversary's tools do work")

        let away = try TakenFiles(3, #require(members[3].disk))
        let fetched = Instant.start + .seconds(Int(away.file.received) - 1_700_000_000)
        let timesOfDora = opened(relay.recorded, with: away.secrets(relay.deposits))
        #expect(fetched > .start + .seconds(3_000), "she has fetched the second secret")
        #expect(try #require(timesOfDora.first) >= fetched - .seconds(10))
        // Without the files, the link opens nothing.
        #expect(opened(relay.recorded, with: []).isEmpty)
    }
}
