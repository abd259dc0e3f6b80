import TenfourChannelKeys
import TenfourNetworkEmulator
import TenfourPackets
import TenfourSeededRandom
import Testing

/// SRTP as other programs use it, with a static key that both ends are given.
struct StaticSRTPTests {
    private static func key(_ suite: SRTPSuite = .aesCounterMode, _ seed: UInt64 = 1) throws -> SRTPMasterKey {
        var randomness = SeededRandom(seed: seed)
        return try #require(
            SRTPMasterKey(suite, keyAndSalt: SecretBytes(count: suite.masterByteCount, using: &randomness)))
    }

    private static func media(_ ssrc: UInt32, _ number: UInt16) -> [UInt8] {
        [UInt8](capacity: 32) {
            RTPHeader(
                marker: false, payloadType: 111, sequenceNumber: SequenceNumber(rawValue: number),
                timestamp: RTPTimestamp(rawValue: UInt32(number) * 960), ssrc: SSRC(ssrc)
            ).write(into: &$0)
            for byte in 0..<20 { $0.append(UInt8(byte)) }
        }
    }

    private static func report(_ ssrc: UInt32) -> [UInt8] {
        let report = ReceiverReport(ssrc: SSRC(ssrc), blocks: [])
        return [UInt8](capacity: report.byteCount) { report.write(into: &$0) }
    }

    private func protect(_ plain: [UInt8], _ end: inout StaticSRTP) throws(SRTPError) -> [UInt8] {
        var failure: SRTPError?
        let datagram = [UInt8](capacity: plain.count + StaticSRTP.maximumGrowth) {
            for byte in plain { $0.append(byte) }
            do throws(SRTPError) { try end.protect(&$0) } catch { failure = error }
        }
        if let failure { throw failure }
        return datagram
    }

    private func open(_ datagram: [UInt8], _ end: inout StaticSRTP) throws(SRTPError) -> [UInt8] {
        var datagram = datagram
        var span = datagram.mutableSpan
        let count = try end.unprotect(&span)
        return Array(datagram[..<count])
    }

    private func expect(_ error: SRTPError, _ datagram: [UInt8], _ end: inout StaticSRTP) {
        do {
            _ = try open(datagram, &end)
            Issue.record("a changed packet was decrypted")
        } catch let other {
            #expect(other == error)
        }
    }

    @Test(arguments: SRTPSuite.allCases)
    func bothSendAndHearSoundAndReports(suite: SRTPSuite) throws {
        var one = try StaticSRTP(Self.key(suite))
        var other = try StaticSRTP(Self.key(suite))
        for number in UInt16(65_500)...65_535 {
            let plain = Self.media(9, number)
            let datagram = try protect(plain, &one)
            #expect(datagram.count == plain.count + suite.tagByteCount && datagram[12...] != plain[12...])
            #expect(try open(datagram, &other) == plain)
        }
        // After the wrap the rollover counter is one at both ends.
        #expect(try open(protect(Self.media(9, 0), &one), &other) == Self.media(9, 0))
        for ssrc: UInt32 in [9, 10] {
            let datagram = try protect(Self.report(ssrc), &other)
            #expect(datagram.count == Self.report(ssrc).count + suite.tagByteCount + 4)
            #expect(try open(datagram, &one) == Self.report(ssrc))
            expect(.replayed, datagram, &one)
        }
    }

    @Test func aRetransmittedPacketIsIdenticalAndOpensOnce() throws {
        var one = try StaticSRTP(Self.key())
        var other = try StaticSRTP(Self.key())
        let first = try protect(Self.media(9, 1), &one)
        for number in 2..<UInt16(500) { _ = try protect(Self.media(9, number), &one) }
        #expect(try protect(Self.media(9, 1), &one) == first)
        #expect(try open(first, &other) == Self.media(9, 1))
        expect(.replayed, first, &other)
    }

    @Test(arguments: SRTPSuite.allCases)
    func packetsUnderAnotherKeyAreRefusedAndChangeNothing(suite: SRTPSuite) throws {
        var one = try StaticSRTP(Self.key(suite))
        var other = try StaticSRTP(Self.key(suite))
        var stranger = try StaticSRTP(Self.key(suite, 2))
        expect(.forged, try protect(Self.media(9, 1), &stranger), &other)
        expect(.forged, try protect(Self.report(9), &stranger), &other)
        for plain in [Self.media(9, 1), Self.report(9)] {
            let datagram = try protect(plain, &one)
            for bit in 0..<(datagram.count * 8) {
                var changed = datagram
                changed[bit / 8] ^= 1 << (bit % 8)
                do {
                    _ = try open(changed, &other)
                    Issue.record("bit \(bit)")
                } catch {
                    // Any error will do: which one is thrown depends on the field that the bit belongs to.
                }
            }
            for count in 0..<datagram.count {
                do {
                    _ = try open(Array(datagram[..<count]), &other)
                    Issue.record("\(count) bytes")
                } catch {
                    // Any error will do: some lengths are malformed, others fail authentication.
                }
            }
            #expect(try open(datagram, &other) == plain)
        }
        for count in 0..<12 {
            do {
                _ = try protect([UInt8](repeating: 0x80, count: count), &one)
                Issue.record("a malformed packet was encrypted")
            } catch { #expect(error == .malformed) }
        }
    }

    /// The keys are written in Base64 (RFC 4648); their lengths are those of RFC 4568 and RFC 7714.
    @Test func aKeyIsReadFromBase64AndWrittenSo() throws {
        for (suite, text) in [
            (SRTPSuite.aesCounterMode, "dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydHAu"),
            (.aesGCM, "dGVuZm91ciB0YWxrcyB0byBvdGhlcnMsIHNydA=="),
        ] {
            let bytes = Array("tenfour talks to others, srtp.".utf8.prefix(suite.masterByteCount))
            let key = try #require(SRTPMasterKey(suite, keyAndSalt: SecretBytes(copying: bytes.span)))
            #expect(SRTPMasterKey(suite, base64: text) == key && key.base64Text == text)
            let bare = String(text.prefix { $0 != "=" })
            #expect(SRTPMasterKey(suite, base64: bare) == key)
            for wrong in [
                "", "=", bare + "A", String(bare.dropLast()), bare + "===", " " + bare, bare.replacing("Z", with: "-"),
            ] {
                #expect(SRTPMasterKey(suite, base64: wrong) == nil, "\(wrong)")
            }
            #expect(SRTPSuite(name: suite.name.lowercased()) == suite)
        }
        #expect(SRTPSuite(name: "AES_CM_128_HMAC_SHA1_32") == nil)
    }

    /// The number of senders is bounded, because anybody who has the key could invent senders and fill the memory.
    @Test func theSourceSilentForLongestIsEvicted() throws {
        var one = try StaticSRTP(Self.key())
        var other = try StaticSRTP(Self.key())
        var datagrams: [[UInt8]] = []
        for ssrc in 1...UInt32(StaticSRTP.maximumSenderCount) {
            datagrams.append(try protect(Self.media(ssrc, 1), &one))
        }
        for datagram in datagrams { _ = try open(datagram, &other) }
        // The first sender is heard again, so the second has been silent for the longest time.
        _ = try open(protect(Self.media(1, 2), &one), &other)
        _ = try open(protect(Self.media(1_000, 1), &one), &other)
        for (index, datagram) in datagrams.enumerated() where index != 1 { expect(.replayed, datagram, &other) }
        #expect(try open(datagrams[1], &other) == Self.media(2, 1))
    }
}
