import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import Testing

/// The information of members: sealed for the other members, unreadable for anybody else.
struct MemberInfoTests {
    private let root = Self.keys("family").mediaRoot
    private let info = MemberInfo(name: "Anna", microphone: .open, ssrc: SSRC(9), joined: 100, microphoneChanged: 200)

    private static func keys(_ name: String, seed: UInt64 = 3) -> ChannelKeys {
        var randomness = SeededRandom(seed: seed)
        return ChannelKeys(name: name, secret: Secret(.talk, using: &randomness))
    }

    private func sealed(_ info: MemberInfo, id: UInt64 = 5, counter: UInt64 = 1) -> SealedMemberInfo {
        SealedMemberInfo(info, id: id, counter: counter, under: root)
    }

    /// Returns the information that the relay, which has no media root, reads from a record with these bytes.
    private func carried(_ bytes: [UInt8]) -> SealedMemberInfo? {
        let keys = SessionKeys.drawn(seed: 1)
        var sealer = keys.sealer(for: .member)
        var opener = keys.opener(for: .relay)
        let inside = [10] + bytes
        var packet = [UInt8](capacity: 200) { sealer.seal(inside: inside.span, into: &$0) }
        var span = packet.mutableSpan
        guard case .info(let info)? = try? opener.open(&span) else { return nil }
        return info
    }

    private func bytes(of info: SealedMemberInfo) -> [UInt8] {
        let keys = SessionKeys.drawn(seed: 1)
        var sealer = keys.sealer(for: .member)
        let packet = [UInt8](capacity: 200) { sealer.seal(.info(info), into: &$0) }
        #expect(packet.count == 36 + 1 + SealedMemberInfo.byteCount)
        var opener = keys.opener(for: .relay)
        var opened = packet
        var span = opened.mutableSpan
        _ = try? opener.open(&span)
        return Array(opened[21..<21 + SealedMemberInfo.byteCount])
    }

    @Test func aMemberOfTheChannelOpensWhatAnotherSealed() {
        #expect(sealed(info).opened(under: root) == info)
        #expect(carried(bytes(of: sealed(info)))?.opened(under: root) == info)
        let listener = ChannelKeys(name: "family", secret: Self.keys("family").listenSecret)
        #expect(sealed(info).opened(under: listener.mediaRoot) == info)
    }

    @Test func anotherChannelDoesNotOpenIt() {
        #expect(sealed(info).opened(under: Self.keys("others").mediaRoot) == nil)
        #expect(sealed(info).opened(under: Self.keys("family", seed: 4).mediaRoot) == nil)
    }

    @Test func anyChangedBitIsRefused() throws {
        let bytes = bytes(of: sealed(info))
        for bit in 0..<(bytes.count * 8) {
            var changed = bytes
            changed[bit / 8] ^= 1 << (bit % 8)
            // The first bits are the id and the counter, so an entry cannot be moved to another member, nor be made
            // newer.
            #expect(carried(changed)?.opened(under: root) == nil, "bit \(bit)")
        }
    }

    @Test func theSealedPartOfOneMemberIsNotAnothers() throws {
        let anna = bytes(of: sealed(info, id: 5))
        let ben = bytes(of: sealed(info, id: 6))
        #expect(carried(Array(ben[..<16] + anna[16...]))?.opened(under: root) == nil)
        #expect(carried(Array(ben[..<16] + ben[16...]))?.opened(under: root) == info)
    }

    @Test func itsLengthSaysNothing() {
        let sizes = ["", "A", String(repeating: "x", count: 64), String(repeating: "ß", count: 500)].map { name in
            bytes(of: sealed(MemberInfo(name: name, microphone: .none, ssrc: SSRC(1), joined: 0, microphoneChanged: 0)))
                .count
        }
        #expect(sizes == [109, 109, 109, 109])
    }

    @Test(arguments: [
        ("Anna", "Anna"), ("  Anna \n", "Anna \u{FFFD}"), ("", ""), ("\t ", "\u{FFFD}"),
        ("a\u{1B}[2Jb", "a\u{FFFD}[2Jb"),
        (String(repeating: "x", count: 65), String(repeating: "x", count: 64)),
        // Characters of 2 and of 25 bytes are not cut in the middle.
        ("x" + String(repeating: "ß", count: 40), "x" + String(repeating: "ß", count: 31)),
        (String(repeating: "👨‍👩‍👧‍👦", count: 3), String(repeating: "👨‍👩‍👧‍👦", count: 2)),
    ])
    func aNameIsFitToBeShown(name: String, shown: String) {
        let info = MemberInfo(name: name, microphone: .closed, ssrc: SSRC(1), joined: 0, microphoneChanged: 0)
        #expect(info.name == shown)
        #expect(info.name.utf8.count <= MemberInfo.maximumNameByteCount)
        #expect(sealed(info).opened(under: root) == info)
    }

    @Test(
        arguments: [
            // Too long, truncated inside an entry, of unknown type, without an id, and with eleven entries.
            [11] + [UInt8](repeating: 0, count: 20) + [0, 0, 0, 1, 2] + [UInt8](repeating: 1, count: 108),
            [11] + [UInt8](repeating: 0, count: 20) + [0, 0, 0, 1],
            [11] + [UInt8](repeating: 0, count: 20) + [0, 0, 0, 1, 3],
            [11] + [UInt8](repeating: 0, count: 20) + [0, 0, 0, 1, 2] + [UInt8](repeating: 0, count: 109),
            [11] + [UInt8](repeating: 0, count: 20 + 11 * 5),
            [11] + [UInt8](repeating: 0, count: 19),
            [13, 2] + [UInt8](repeating: 0, count: 12),
            [13] + [UInt8](repeating: 0, count: 12),
            [12, 2] + [UInt8](repeating: 0, count: 12),
            [12] + [UInt8](repeating: 0, count: 12),
            [10] + [UInt8](repeating: 0, count: 108),
            [10] + [UInt8](repeating: 0, count: 108) + [1],
        ] as [[UInt8]])
    func malformedRostersAreRefused(inside: [UInt8]) {
        let keys = SessionKeys.drawn(seed: 1)
        var sealer = keys.sealer(for: .relay)
        var opener = keys.opener(for: .member)
        var packet = [UInt8](capacity: 1_300) { sealer.seal(inside: inside.span, into: &$0) }
        var span = packet.mutableSpan
        switch Result(catching: { () throws(RecordOpener.Failure) in try opener.open(&span) }) {
        case .failure(.malformed): break
        case let other: Issue.record("\(other)")
        }
    }

    @Test func aFullRosterFitsIntoARecord() throws {
        let entries = (0..<UInt32(Roster.maximumEntryCount)).map {
            Roster.Entry(number: $0, .here(sealed(info, id: UInt64($0) + 1)))
        }
        let record = Record.roster(Roster.Head(revision: 2, previous: 1, otherCount: 3, counter: 4), entries)
        let keys = SessionKeys.drawn(seed: 1)
        var sealer = keys.sealer(for: .relay)
        var opener = keys.opener(for: .member)
        var packet = [UInt8](capacity: ControlPacket.maximumByteCount) { sealer.seal(record, into: &$0) }
        #expect(packet.count <= ControlPacket.maximumByteCount)
        var span = packet.mutableSpan
        #expect(try opener.open(&span) == record)
    }
}
