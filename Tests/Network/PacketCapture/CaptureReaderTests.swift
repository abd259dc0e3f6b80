import TenfourAudioCore
import TenfourPacketCapture
import Testing

/// Returns all packets of a capture, and why it was not read to its end.
private func packets(_ bytes: [UInt8]) throws -> (packets: [CapturedPacket], damage: String?) {
    var reader = try CaptureReader(bytes.span)
    var packets: [CapturedPacket] = []
    while let packet = reader.next(in: bytes.span) { packets.append(packet) }
    #expect(reader.next(in: bytes.span) == nil, "no packet follows after the end")
    return (packets, reader.damage)
}

struct CaptureReaderTests {
    private let first: [UInt8] = [1, 2, 3, 4, 5]
    private let second: [UInt8] = [6, 7]

    @Test(arguments: [false, true], [false, true])
    func pcapIsReadInBothByteOrdersAndResolutions(isBigEndian: Bool, hasNanoseconds: Bool) throws {
        var capture = CaptureBytes.pcap(linkType: 276, isBigEndian: isBigEndian, hasNanoseconds: hasNanoseconds)
        capture.append(first, seconds: 1_700_000_000, rest: 999_999)
        capture.append(second, seconds: 4_000_000_000, rest: 1, originalByteCount: 60)
        let (found, damage) = try packets(capture.bytes)
        let unit: Int64 = hasNanoseconds ? 1 : 1_000
        #expect(damage == nil)
        #expect(found.map { capture.bytes[$0.bytes].map { $0 } } == [first, second])
        #expect(
            found.map(\.time.nanoseconds)
                == [1_700_000_000_000_000_000 + 999_999 * unit, 4_000_000_000_000_000_000 + unit])
        #expect(found.map(\.originalByteCount) == [5, 60])
        #expect(found.allSatisfy { $0.linkType == LinkType(rawValue: 276) })
    }

    /// Sections may differ in byte order, and each numbers its interfaces from zero.
    @Test(arguments: [false, true])
    func pcapngIsReadThroughSectionsInterfacesAndBlocksOfOtherTypes(isBigEndian: Bool) throws {
        var capture = CaptureBytes.pcapng(isBigEndian: isBigEndian)
        capture.appendInterface(linkType: 1)
        capture.appendInterface(linkType: 113, resolution: 9, offset: 100)
        capture.appendBlock(5, [UInt8](repeating: 9, count: 23))  // interface statistics
        capture.appendEnhanced(first, units: 5_000_001)
        capture.appendEnhanced(second, interface: 1, units: 7)
        capture.isBigEndian.toggle()
        capture.appendSection()
        capture.appendInterface(linkType: 101, resolution: 0x80 | 10)
        capture.appendEnhanced(first, units: 512)
        let (found, damage) = try packets(capture.bytes)
        #expect(damage == nil)
        #expect(found.map { capture.bytes[$0.bytes].map { $0 } } == [first, second, first])
        #expect(found.map(\.time.nanoseconds) == [5_000_001_000, 100_000_000_007, 500_000_000])
        #expect(found.map(\.linkType.rawValue) == [1, 113, 101])
    }

    @Test func aSimplePacketBlockHasNoTime() throws {
        var capture = CaptureBytes.pcapng()
        capture.appendInterface()
        capture.appendBlock(3, capture.number(2, 4) + second)
        let found = try packets(capture.bytes).packets
        #expect(found.map { capture.bytes[$0.bytes].map { $0 } } == [second])
        #expect(found[0].time == .start)
    }

    @Test func aCaptureThatIsCutOffIsReadAsFarAsItGoes() throws {
        var pcap = CaptureBytes.pcap()
        var pcapng = CaptureBytes.pcapng()
        pcapng.appendInterface()
        for _ in 0..<3 {
            pcap.append(first)
            pcapng.appendEnhanced(first, units: 1)
        }
        for bytes in [pcap.bytes, pcapng.bytes] {
            for cut in 1..<first.count {
                let (found, damage) = try packets(bytes.dropLast(cut))
                #expect(found.count == 2 && damage != nil)
            }
        }
        #expect(try packets(pcap.bytes.dropLast(15)).damage == "it ends within the header of a packet")
    }

    @Test(arguments: [0x7FFF_FFFF, 0xFFFF_FFFF, 0x0010_0001]) func anAbsurdLengthEndsTheReading(length: Int) throws {
        var pcap = CaptureBytes.pcap()
        pcap.append(first)
        pcap.bytes += pcap.number(0, 8) + pcap.number(length, 4) + pcap.number(length, 4) + first
        let (found, damage) = try packets(pcap.bytes)
        #expect(found.count == 1 && damage?.contains("\(length) bytes") == true)

        var pcapng = CaptureBytes.pcapng()
        pcapng.appendInterface()
        pcapng.appendEnhanced(first, units: 1)
        pcapng.bytes += pcapng.number(6, 4) + pcapng.number(length, 4) + first
        #expect(try packets(pcapng.bytes).packets.count == 1)
        #expect(try packets(pcapng.bytes).damage != nil)
    }

    @Test func aPacketOfAnInterfaceThatIsNotThereEndsTheReading() throws {
        var capture = CaptureBytes.pcapng()
        capture.appendEnhanced(first, units: 1)
        #expect(try packets(capture.bytes).damage == "a packet does not fit its block")
    }

    @Test func otherFilesAreRefused() {
        #expect(throws: CaptureError.empty) { try packets([]) }
        #expect(throws: CaptureError.unknownFormat) { try packets([0xA1, 0xB2]) }
        #expect(throws: CaptureError.unknownFormat) { try packets(Array("RIFF....WAVEfmt ".utf8)) }
        #expect(throws: CaptureError.noHeader) { try packets(CaptureBytes.pcap().bytes.dropLast()) }
        var old = CaptureBytes.pcap().bytes
        old[4] = 1
        #expect(throws: CaptureError.unknownVersion(1)) { try packets(old) }
    }
}
