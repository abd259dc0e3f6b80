import Foundation
import TenfourChannelKeys
import TenfourManagedChannel
import TestSupport
import Testing

@testable import TenfourDirectWay

/// The vectors of Protocol/vectors/direct, which another implementation has written.
struct DirectVectorTests {
    private struct Written: Decodable {
        var channelID: String
        var seeds, salts, candidateKeys, probeKeys: [String: String]
        var indexes: [String: UInt16]
        var number: UInt64
    }

    private let written: Written
    private let anna, bob: PairKeys
    private let annaSalt, bobSalt: UInt128

    init() throws {
        let path = Repository.path("Protocol/vectors/direct/direct.json")
        let written = try JSONDecoder().decode(Written.self, from: Data(contentsOf: URL(filePath: path)))
        self.written = written
        func identity(_ name: String) -> MemberIdentity {
            MemberIdentity(seed: LockedBytes(copying: bytes(of: written.seeds[name]!).span))
        }
        let channel = try #require(UInt128(written.channelID, radix: 16))
        let indexes = (written.indexes["anna"]!, written.indexes["bob"]!)
        anna = try #require(
            PairKeys(identity("anna"), indexes.0, with: identity("bob").key, indexes.1, channelID: channel))
        bob = try #require(
            PairKeys(identity("bob"), indexes.1, with: identity("anna").key, indexes.0, channelID: channel))
        annaSalt = try #require(UInt128(written.salts["anna"]!, radix: 16))
        bobSalt = try #require(UInt128(written.salts["bob"]!, radix: 16))
    }

    private static func file(_ name: String) -> [UInt8] {
        Folder.bytes(of: Repository.path("Protocol/vectors/direct/\(name).bin"))
    }

    @Test func bothMembersHaveTheKeysOfThePair() {
        for keys in [anna, bob] {
            #expect(keys.candidateKey(of: anna.own, salt: annaSalt).array == bytes(of: written.candidateKeys["anna"]!))
            #expect(keys.candidateKey(of: bob.own, salt: bobSalt).array == bytes(of: written.candidateKeys["bob"]!))
            let (first, second) = (written.probeKeys["anna"]!, written.probeKeys["bob"]!)
            #expect(keys.probeKey(of: anna.own, salt: annaSalt, receiver: bobSalt).array == bytes(of: first))
            #expect(keys.probeKey(of: bob.own, salt: bobSalt, receiver: annaSalt).array == bytes(of: second))
        }
    }

    @Test func candidatesAreSealedForTheOtherMember() throws {
        let list = try #require(
            CandidateList(
                view: PeerAddress(v4: 0xCB00_7109, port: 40_000),
                [
                    PeerAddress(v4: 0xC0A8_0114, port: 5004),
                    PeerAddress(v6: 0x2001_0DB8 << 96 | 0x20, port: 5004),
                    // It was mapped into IPv6.
                    PeerAddress(v4: 0xC633_6407, port: 5004),
                    PeerAddress(v6: 0x0064_FF9B << 96 | 0xC633_6408, port: 5004),
                ]))
        let plain = Self.file("candidates-plain")
        let offer = try CandidateOffer(parsing: plain.span)
        #expect(offer == .offered(list))
        let record = Self.file("candidates")
        let sealed = SealedCandidates(sealing: plain, counter: 3, salt: annaSalt, with: anna)
        #expect(sealed.bytes == record)
        var passed = try SealedCandidates(parsing: record.span)
        #expect(passed.index == bob.own && passed.bytes == record)
        passed.index = anna.own
        #expect(try passed.opened(with: bob) == .offered(list))
        #expect(try passed.opened(with: anna) == nil, "its sender's own key is another one")
        let withdrawn = SealedCandidates(.withdrawn, counter: 4, salt: annaSalt, with: anna)
        #expect(withdrawn.bytes == Self.file("candidates-withdrawn"))
        #expect(try withdrawn.opened(with: bob) == .withdrawn)
    }

    @Test func aChangedByteIsNoCandidate() throws {
        let record = Self.file("candidates")
        for place in 3..<record.count {
            var changed = record
            changed[place] ^= 1
            let opened = try SealedCandidates(parsing: changed.span).opened(with: bob)
            #expect(opened == nil, "byte \(place)")
        }
        for count in 0..<record.count {
            let part = Array(record.prefix(count))
            #expect(throws: ControlParseError.self) { try SealedCandidates(parsing: part.span) }
        }
    }

    @Test func aProbeAndItsEchoHaveTheTagsOfTheirSenders() throws {
        let keys = (
            anna.probeKey(of: anna.own, salt: annaSalt, receiver: bobSalt),
            anna.probeKey(of: bob.own, salt: bobSalt, receiver: annaSalt)
        )
        let probe = DirectProbe(
            from: anna.own, to: bob.own, counter: 258, number: written.number, isEcho: false, key: keys.0)
        #expect(probe.bytes == Self.file("probe"))
        let echo = DirectProbe(
            from: bob.own, to: anna.own, counter: 77, number: written.number, isEcho: true, key: keys.1)
        #expect(echo.bytes == Self.file("echo"))
        let probeBytes = probe.bytes
        let read = try DirectProbe(parsing: probeBytes.span)
        #expect(read == probe && read.isAuthentic(under: keys.0) && !read.isAuthentic(under: keys.1))
        for place in 4..<24 {
            var changed = probe.bytes
            changed[place] ^= 1
            let parsed = try? DirectProbe(parsing: changed.span)
            #expect(parsed?.isAuthentic(under: keys.0) != true, "byte \(place)")
        }
        var long = probe.bytes
        long.append(0)
        #expect(throws: ControlParseError.length(41)) { try DirectProbe(parsing: long.span) }
    }

    @Test func theRelaysRecordsAreReadAndWritten() throws {
        let (limitedBytes, memberBytes) = (Self.file("limited-media"), Self.file("members"))
        let limited = try LimitedMedia(parsing: limitedBytes.span)
        #expect(limited == LimitedMedia(revision: 6, allowsDirect: true, indexes: [3, 9]))
        #expect(limited.bytes == limitedBytes)
        let members = try DirectMembers(parsing: memberBytes.span)
        let expected = [(1, 0), (3, 1), (9, 0)].map { DirectMembers.Member(index: $0.0, network: $0.1) }
        #expect(members == DirectMembers(presentCount: 3, members: expected))
        #expect(members.bytes == memberBytes)
    }
}

/// Returns the bytes that the hexadecimal digits stand for.
private func bytes(of text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

extension SecretBytes {
    fileprivate var array: [UInt8] { withBytes { bytes in bytes.indices.map { bytes[$0] } } }
}
