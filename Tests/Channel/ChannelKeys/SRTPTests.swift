import TenfourChannelKeys
import TenfourPackets
import Testing

struct SRTPTests {
    private static let root = ChannelKeys(name: "family", secret: .drawn(1)).mediaRoot
    private static let ssrc = SSRC(9)

    private static func key(_ suite: SRTPSuite = .aesCounterMode, epoch: UInt128 = 1) -> SRTPMasterKey {
        root.masterKey(suite, ssrc: ssrc, epoch: Epoch(rawValue: epoch))
    }

    private static func packet(_ number: UInt16, _ payload: [UInt8] = Array(0..<80)) -> [UInt8] {
        [UInt8](capacity: 12 + payload.count) {
            RTPHeader(
                marker: false, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
                timestamp: RTPTimestamp(rawValue: UInt32(number) * 960), ssrc: ssrc
            ).write(into: &$0)
            for byte in payload { $0.append(byte) }
        }
    }

    private static func index(_ rollover: UInt32, _ number: UInt16) -> PacketIndex {
        PacketIndex(rolloverCounter: rollover, SequenceNumber(rawValue: number))
    }

    @Test(arguments: try KeysVector.all(.srtp))
    func aPacketIsProtectedAsWritten(vector: KeysVector) throws {
        let suite = try #require(vector.suite.flatMap(SRTPSuite.init))
        let given = try #require(vector.master.map(hex))
        let plain = try #require(vector.plain.map(hex))
        let (ssrc, count) = (plain[8..<12].reduce(0) { $0 << 8 | UInt32($1) }, UInt16(plain[2]) << 8 | UInt16(plain[3]))
        let key = try #require(SRTPMasterKey(suite, keyAndSalt: SecretBytes(copying: given.span)))
        if vector.fromSession == true {
            let keys = try ChannelKeys(ChannelLink(SessionInputs.written.link))
            let epoch = Epoch(rawValue: number(SessionInputs.written.epoch))
            #expect(keys.mediaRoot.masterKey(suite, ssrc: SSRC(SessionInputs.written.ssrc), epoch: epoch) == key)
        }
        var receiver = try SRTPContext(
            receiving: key, ssrc: SSRC(ssrc), at: Self.index(try #require(vector.rolloverCounter), count))
        var packet = try vector.bytes()
        var span = packet.mutableSpan
        #expect(try receiver.unprotect(&span) == plain.count)
        #expect(Array(packet[..<plain.count]) == plain)
        guard vector.rolloverCounter == 0 else { return }
        var sender = try SRTPContext(sending: key, ssrc: SSRC(ssrc))
        #expect(try protect(plain, &sender) == (try vector.bytes()))
    }

    private func protect(_ plain: [UInt8], _ sender: inout SRTPContext) throws(SRTPError) -> [UInt8] {
        var failure: SRTPError?
        let packet = [UInt8](capacity: plain.count + 16) {
            for byte in plain { $0.append(byte) }
            do throws(SRTPError) { try sender.protect(&$0) } catch { failure = error }
        }
        if let failure { throw failure }
        return packet
    }

    private func unprotect(_ packet: [UInt8], _ receiver: inout SRTPContext) throws(SRTPError) -> [UInt8] {
        var packet = packet
        var span = packet.mutableSpan
        let count = try receiver.unprotect(&span)
        return Array(packet[..<count])
    }

    @Test(arguments: SRTPSuite.allCases)
    func aListenerMayJoinAtAnyTurnAndMissAnything(suite: SRTPSuite) throws {
        // 131 000 packets pass the wrap twice. Listeners join at each of these packets, with the index announced
        // there.
        var sender = try SRTPContext(sending: Self.key(suite), ssrc: Self.ssrc)
        var first = try SRTPContext(receiving: Self.key(suite), ssrc: Self.ssrc, at: Self.index(0, 0))
        for count in 0..<140_000 {
            let number = UInt16(truncatingIfNeeded: count)
            let plain = Self.packet(number, [1, 2, 3])
            let packet = try protect(plain, &sender)
            if count % 101 == 0 { #expect(try unprotect(packet, &first) == plain) }
            // The index may be announced before the wrap and used after it, and the other way around.
            guard [0, 65_535, 65_536, 65_540, 131_071, 131_072, 139_000].contains(count) else { continue }
            for off in [-40, 0, 40] where count + off >= 0 {
                let told = Self.index(UInt32((count + off) >> 16), UInt16(truncatingIfNeeded: count + off))
                var late = try SRTPContext(receiving: Self.key(suite), ssrc: Self.ssrc, at: told)
                #expect(try unprotect(packet, &late) == plain)
            }
        }
    }

    @Test func aRolloverCountThatIsWrongOpensNothingUntilItIsAnnouncedRight() throws {
        var sender = try SRTPContext(sending: Self.key(), ssrc: Self.ssrc)
        for count in 0..<65_600 { _ = try protect(Self.packet(UInt16(truncatingIfNeeded: count), []), &sender) }
        let plain = Self.packet(64)
        let packet = try protect(plain, &sender)
        var receiver = try SRTPContext(receiving: Self.key(), ssrc: Self.ssrc, at: Self.index(0, 64))
        do {
            _ = try unprotect(packet, &receiver)
            Issue.record("a changed packet was decrypted")
        } catch { #expect(error == .forged) }
        var right = try SRTPContext(receiving: Self.key(), ssrc: Self.ssrc, at: Self.index(1, 60))
        #expect(try unprotect(packet, &right) == plain)
    }

    @Test func packetsFromLongBeforeTheAnnouncementAreRefused() throws {
        var sender = try SRTPContext(sending: Self.key(), ssrc: Self.ssrc)
        var packets: [[UInt8]] = []
        for number in 0..<400 { packets.append(try protect(Self.packet(UInt16(number)), &sender)) }
        var receiver = try SRTPContext(
            receiving: Self.key(), ssrc: Self.ssrc, at: Self.index(0, 300), packetsPerSecond: 400)
        for number in [0, 100, 171] {
            do {
                _ = try unprotect(packets[number], &receiver)
                Issue.record("opened \(number)")
            } catch { #expect(error == .old) }
        }
        for number in [172, 299, 300, 399] {
            #expect(try unprotect(packets[number], &receiver) == Self.packet(UInt16(number)))
        }
    }

    @Test(arguments: [(50, 128), (400, 800)])
    func packetsOfTwoSecondsAreToldFromDoubles(packetsPerSecond: Int, window: Int) throws {
        var sender = try SRTPContext(sending: Self.key(), ssrc: Self.ssrc)
        var receiver = try SRTPContext(
            receiving: Self.key(), ssrc: Self.ssrc, at: Self.index(0, 0), packetsPerSecond: packetsPerSecond)
        var packets: [[UInt8]] = []
        for number in 0..<2000 { packets.append(try protect(Self.packet(UInt16(number)), &sender)) }
        _ = try unprotect(packets[1999], &receiver)
        do {
            _ = try unprotect(packets[1999], &receiver)
            Issue.record("a duplicate was decrypted")
        } catch { #expect(error == .replayed) }
        #expect(try unprotect(packets[1999 - window + 1], &receiver) == Self.packet(UInt16(1999 - window + 1)))
        do {
            _ = try unprotect(packets[1999 - window - 64], &receiver)
            Issue.record("a packet behind the replay window was decrypted")
        } catch { #expect(error == .old) }
    }

    @Test(arguments: SRTPSuite.allCases)
    func anyChangedBitIsRefusedAndChangesNothing(suite: SRTPSuite) throws {
        var sender = try SRTPContext(sending: Self.key(suite), ssrc: Self.ssrc)
        var receiver = try SRTPContext(receiving: Self.key(suite), ssrc: Self.ssrc, at: Self.index(0, 7))
        let plain = Self.packet(7, [1, 2, 3])
        let packet = try protect(plain, &sender)
        #expect(packet.count == plain.count + suite.tagByteCount)
        for bit in 0..<(packet.count * 8) {
            var changed = packet
            changed[bit / 8] ^= 1 << (bit % 8)
            do {
                _ = try unprotect(changed, &receiver)
                Issue.record("bit \(bit)")
            } catch {
                // Any error will do: which one is thrown depends on the field that the bit belongs to.
            }
        }
        #expect(try unprotect(packet, &receiver) == plain)
    }

    @Test func aRestartUsesAnotherKeyForTheSameNumbers() throws {
        var before = try SRTPContext(sending: Self.key(epoch: 1), ssrc: Self.ssrc)
        var after = try SRTPContext(sending: Self.key(epoch: 2), ssrc: Self.ssrc)
        let (one, two) = (try protect(Self.packet(1), &before), try protect(Self.packet(1), &after))
        #expect(one[12..<92] != two[12..<92])
        var receiver = try SRTPContext(receiving: Self.key(epoch: 2), ssrc: Self.ssrc, at: Self.index(0, 1))
        do {
            _ = try unprotect(one, &receiver)
            Issue.record("a changed packet was decrypted")
        } catch { #expect(error == .forged) }
        #expect(try unprotect(two, &receiver) == Self.packet(1))
    }

    @Test func packetsThatAMemberMayNotSendAreRefused() throws {
        var sender = try SRTPContext(sending: Self.key(), ssrc: SSRC(8))
        do {
            _ = try protect(Self.packet(1), &sender)
            Issue.record("a malformed packet was encrypted")
        } catch { #expect(error == .otherSource) }
        do {
            _ = try protect([0x80, 1], &sender)
            Issue.record("a malformed packet was encrypted")
        } catch { #expect(error == .malformed) }
        var receiver = try SRTPContext(receiving: Self.key(), ssrc: Self.ssrc, at: Self.index(0, 0))
        for count in 0..<40 {
            do {
                _ = try unprotect([UInt8](repeating: 0x80, count: count), &receiver)
                Issue.record("a changed packet was decrypted")
            } catch {
                // Any error will do: some lengths are malformed, others fail authentication.
            }
        }
    }
}
