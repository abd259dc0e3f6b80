import TenfourAudioCore
import TenfourPackets
import TenfourSeededRandom
import Testing

/// Families of descriptions with random streams and deviations, as other programs and people write them.
struct SDPFamilyTests {
    /// Streams that cannot be played stand before the one that can, in any order, and any streams behind it.
    @Test func theFirstPlayableStreamIsTakenFromAnyDeviation() throws {
        for seed in 0..<1_500 as Range<UInt64> {
            var randomness = SeededRandom(seed: seed)
            let description = self.description(&randomness)
            let bytes = text(of: description, &randomness)
            do throws(SDPError) {
                let read = try SessionDescription(parsing: bytes.span)
                guard read != description else { continue }
                Issue.record("seed \(seed): \(read) is not \(description)")
            } catch {
                Issue.record("seed \(seed): \(error)\n\(String(decoding: bytes, as: UTF8.self))")
            }
            return
        }
    }

    /// After random bytes are replaced, the parser returns or throws, and its sentence has one line.
    @Test func changedBytesTrapNothing() {
        for seed in 0..<1_500 as Range<UInt64> {
            var randomness = SeededRandom(seed: seed)
            let description = self.description(&randomness)
            var bytes = text(of: description, &randomness)
            for _ in 0..<Int.random(in: 1...20, using: &randomness) {
                bytes[Int.random(in: bytes.indices, using: &randomness)] = .random(in: 0...255, using: &randomness)
            }
            do throws(SDPError) {
                let read = try SessionDescription(parsing: bytes.span)
                #expect((1...64).contains(read.formats.count), "seed \(seed)")
            } catch {
                #expect(error.line >= 1 && !error.description.contains { $0.isNewline }, "seed \(seed): \(error)")
            }
        }
    }

    @Test(arguments: ["opus/48000/2", "OPUS/48000/2", "Opus/48000", "opus/48000/1"])
    func opusIsReadInAnySpelling(encoding: String) throws {
        let text = "v=0\nc=IN IP4 192.0.2.1\nm=audio 5004 RTP/AVP 97\na=rtpmap:97 \(encoding)\n"
        #expect(try SessionDescription(parsing: text).payloadTypes == [97: .opus])
    }

    @Test func g711MayHaveDynamicPayloadTypes() throws {
        let text = """
            v=0
            c=IN IP4 192.0.2.1
            m=audio 5004 RTP/AVP 96 97 98 99 0 101 102
            a=rtpmap:96 pcmu/8000
            a=rtpmap:97 PCMA/8000/1
            a=rtpmap:98 PCMU/16000
            a=rtpmap:99 PCMA/8000/2
            a=rtpmap:101 telephone-event/8000
            """
        let description = try SessionDescription(parsing: text)
        #expect(description.payloadTypes == [96: .pcmu, 97: .pcma, 0: .pcmu])
        #expect(description.payloadType(of: .pcmu) == 96 && description.payloadType(of: .pcma) == 97)
        #expect(description.payloadType(of: .opus) == nil)
    }

    // MARK: - Descriptions

    private func description(_ randomness: inout SeededRandom) -> SessionDescription {
        var parameters = OpusParameters()
        parameters.usesInBandFEC = .random(using: &randomness)
        let dynamic = UInt8.random(in: 96...111, using: &randomness)
        let formats: [SessionDescription.Format] = [
            .opus(payloadType: dynamic, parameters),
            .init(payloadType: 0, encoding: .init(name: "PCMU", clockRate: 8_000)),
            .init(payloadType: 112, encoding: .init(name: "PCMA", clockRate: 8_000)),
            .init(payloadType: 113, encoding: .init(name: "PCMU", clockRate: 8_000)),
        ]
        var offered = formats.shuffled(using: &randomness).prefix(.random(in: 1...4, using: &randomness))
        offered.append(.init(payloadType: 114, encoding: .init(name: "telephone-event", clockRate: 8_000)))
        let group = SessionDescription.Connection("239.255.0.7", timeToLive: 3)
        let isMultiplexed = Bool.random(using: &randomness)
        return SessionDescription(
            origin: .init(username: "alice", sessionID: 7, version: 2, address: .init("192.0.2.1")),
            name: "Evening show",
            connection: [.init("192.0.2.7"), .init("2001:db8::7"), group].randomElement(using: &randomness)!,
            port: .random(in: 1...65_535, using: &randomness),
            profile: [.avp, .avpf].randomElement(using: &randomness)!, formats: Array(offered),
            packetTime: Bool.random(using: &randomness) ? .milliseconds(20) : nil,
            rtcpPort: Bool.random(using: &randomness) ? 7_001 : nil, multiplexesRTCP: isMultiplexed,
            direction: SessionDescription.Direction.allCases.randomElement(using: &randomness)!,
            feedback: Bool.random(using: &randomness) ? [.nack] : [])
    }

    /// Streams that cannot be played, each with its own lines.
    private static let unplayable = [
        ["m=audio 0 RTP/AVP 0", "c=IN IP4 192.0.2.9"],
        ["m=audio 7000 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 192.0.2.9", "a=rtpmap:111 opus/48000/2"],
        ["m=audio 7000 RTP/SAVPF 0", "c=IN IP4 192.0.2.9", "a=fingerprint:sha-256 00:11"],
        ["m=audio 7000 TCP/WS 0", "c=IN IP4 192.0.2.9"],
        ["m=audio 7000 RTP/AVP 98 9", "c=IN IP4 192.0.2.9", "a=rtpmap:98 L16/48000/2", "a=ptime:5"],
        ["m=audio 7000 RTP/AVP 0 8", "a=sendonly"],
        ["m=audio 7000 RTP/SAVP 0", "c=IN IP4 192.0.2.9", "a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:QUJD|1:4"],
        ["m=audio 7000 RTP/SAVP 0", "c=IN IP4 192.0.2.9", "a=key-mgmt:mikey AAAA"],
        ["m=audio 70000 RTP/AVP 0", "c=IN IP4 192.0.2.9"],
        ["m=audio 7000 RTP/AVP 0", "c=IN IP4 192.0.2.9", "a=ptime:soon"],
        ["m=video 7000 RTP/AVP 96", "c=IN IP4 192.0.2.9", "a=rtpmap:96 opus/48000/2"],
        ["m=application 9 UDP/BFCP *", "c=IN IP4 192.0.2.9"],
    ]

    private func text(of description: SessionDescription, _ randomness: inout SeededRandom) -> [UInt8] {
        let lines = description.text(endingLinesWith: "\n").split(separator: "\n").map { String($0) }
        // The address is below the stream, so that another stream may have none. The first line stays the first.
        let session = lines.prefix(5).filter { !$0.hasPrefix("c=") }.dropFirst().shuffled(using: &randomness)
        let attributes = (lines.dropFirst(6) + lines.filter { $0.hasPrefix("c=") }).shuffled(using: &randomness)
        let before = Self.unplayable.shuffled(using: &randomness).prefix(.random(in: 0...4, using: &randomness))
        let after = (Self.unplayable + [["m=audio 7000 RTP/AVP 8", "c=IN IP4 192.0.2.9"]])
            .shuffled(using: &randomness).prefix(.random(in: 0...3, using: &randomness))
        var all = [lines[0]]
        all += session
        all += before.joined()
        all.append(lines[5])
        all += attributes
        all += after.joined()
        return deviating(from: all, &randomness)
    }

    /// Writes lines as other programs and people write them.
    private func deviating(from lines: [String], _ randomness: inout SeededRandom) -> [UInt8] {
        let lineEnd = ["\n", "\r\n", "\r"].randomElement(using: &randomness)!
        var text = randomness.happens(0.3) ? "\u{FEFF}" : ""
        for _ in 0..<Int.random(in: 0...2, using: &randomness) {
            text += ["", " ", "\t"].randomElement(using: &randomness)! + lineEnd
        }
        let isIndented = randomness.happens(0.3)
        for (number, line) in lines.enumerated() {
            var line = line
            if line.hasPrefix("m="), randomness.happens(0.3) { line = line.lowercased() }
            if line.hasPrefix("c="), randomness.happens(0.3) { line = line.lowercased() }
            if line.hasPrefix("a="), !line.contains("rtpmap"), !line.contains("fmtp"), !line.contains("rtcp-fb"),
                randomness.happens(0.2)
            {
                line = "a=" + line.dropFirst(2).uppercased()
            }
            if !line.hasPrefix("a=fmtp"), randomness.happens(0.2) { line.replace(" ", with: "\t") }
            if !line.hasPrefix("s="), !line.hasPrefix("a=fmtp"), randomness.happens(0.2) {
                line.replace(" ", with: "  ")
            }
            if randomness.happens(0.1) { line.replace("=", with: " = ", maxReplacements: 1) }
            if line.hasPrefix("a=rtpmap:"), randomness.happens(0.2) { line.replace(":", with: ": ") }
            if isIndented || randomness.happens(0.1) { line = "    " + line }
            if randomness.happens(0.2) { line += [" ", "\t", " \t "].randomElement(using: &randomness)! }
            text += line
            // The last line may have no end.
            guard number + 1 < lines.count || randomness.happens(0.5) else { break }
            text += lineEnd
            if randomness.happens(0.1) {
                text += ["", "a=x-note:hello", "b=AS:64", "???"].randomElement(using: &randomness)! + lineEnd
            }
        }
        return Array(text.utf8)
    }
}
