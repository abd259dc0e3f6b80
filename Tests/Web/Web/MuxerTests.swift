import TenfourAudioCore
import TenfourOpusCodec
import TenfourPackets
import TenfourWeb
import TestSupport
import Testing

/// The containers in FFmpeg, compared with libopus, which decodes the packets themselves.
@Suite(.onItsOwnThread) struct MuxerTests {
    private let folder = Folder()

    /// Live packets of a tone with a loss, between silences: about four seconds.
    private func packets() throws -> [LivePacket] {
        var scene = Scene()
        scene.run(for: .milliseconds(500))
        var sequenceNumber: UInt16 = 7
        for (index, payload) in try CodedTone.packets(seconds: 3).enumerated() {
            if !(60..<63).contains(index) {
                scene.insert(
                    SimulatedTalker.Packet(
                        ssrc: SSRC(1), sequenceNumber: sequenceNumber, timestamp: UInt32(index * 960),
                        marker: index == 0, payload: payload))
            }
            sequenceNumber &+= 1
            scene.run(for: .milliseconds(20))
        }
        scene.run(for: .milliseconds(700))
        #expect(scene.count(.concealment) == 3)
        return scene.packets
    }

    /// Returns the packets in groups of about 100 ms.
    private func ticks(_ packets: [LivePacket]) -> [[LivePacket]] {
        Dictionary(grouping: packets) { $0.start.rawValue / 4_800 }.sorted { $0.key < $1.key }.map(\.value)
    }

    private func decoded(_ packets: [LivePacket]) throws -> [Float] {
        var decoder = try OpusDecoder(channelCount: 2)
        var samples: [Float] = []
        var buffer = [Float](repeating: 0, count: 2 * OpusDecoder.maximumPacketDuration.rawValue)
        for packet in packets {
            var span = buffer.mutableSpan
            let count = try decoder.decode(packet.payload.span, into: &span)
            #expect(count == packet.frameCount)
            samples += buffer[..<(2 * count.rawValue)]
        }
        return samples
    }

    /// Decodes a file with FFmpeg, which uses libopus here.
    private func decodedByFFmpeg(_ name: String) throws -> [Float] {
        let result = try Program.run(
            "ffmpeg",
            ["-v", "warning", "-c:a", "libopus", "-i", name, "-f", "s16le", "-c:a", "pcm_s16le", "heard.raw"],
            in: folder)
        #expect(result.end == .code(0) && result.errors == "", "\(result.errors)")
        let bytes = Folder.bytes(of: folder("heard.raw"))
        return stride(from: 0, to: bytes.count - 1, by: 2).map {
            Float(Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)) / 32_768
        }
    }

    /// Expects the audio that libopus decodes from the packets, to a step of 16-bit samples.
    private func expectSame(_ heard: [Float], as packets: [LivePacket]) throws {
        let expected = try decoded(packets)
        #expect(heard.count == expected.count)
        let worst = zip(heard, expected).map { abs($0 - max(-1, min($1, 1))) }.max() ?? 1
        #expect(worst < 2.0 / 32_768, "\(worst)")
    }

    @Test func oggIsWhatLibopusDecodes() throws {
        let packets = try packets()
        let muxer = OggMuxer(serial: 0x1234_5678, title: "family")
        folder.write(ticks(packets).reduce(muxer.header) { $0 + muxer.append($1) }, to: "live.ogg")
        try expectSame(try decodedByFFmpeg("live.ogg"), as: packets)
        let shown = try Program.run("ffprobe", ["-v", "warning", "-show_streams", "live.ogg"], in: folder)
        #expect(shown.output.contains("TAG:TITLE=family") && shown.output.contains("channels=2"))
    }

    @Test func webMIsWhatLibopusDecodes() throws {
        let packets = try packets()
        let muxer = WebMMuxer(title: "family")
        folder.write(ticks(packets).reduce(muxer.header) { $0 + muxer.append($1) }, to: "live.webm")
        try expectSame(try decodedByFFmpeg("live.webm"), as: packets)
        let shown = try Program.run(
            "ffprobe", ["-v", "warning", "-show_streams", "-show_packets", "live.webm"], in: folder)
        #expect(shown.errors == "")
        #expect(shown.output.contains("codec_name=opus") && shown.output.contains("channels=2"))
        let times = shown.output.split(separator: "\n").compactMap { line in
            line.hasPrefix("pts_time=") ? Double(line.dropFirst("pts_time=".count)) : nil
        }
        #expect(times.count == packets.count)
        for (time, packet) in zip(times, packets) {
            #expect(abs(time - Double(packet.start.rawValue) / 48_000) < 0.000_6)
        }
    }

    @Test(arguments: ["ogg", "webm"])
    func aListenerMayBeginWithAnyPage(container: String) throws {
        let packets = try packets()
        let ogg = OggMuxer(serial: 1, title: "family")
        let webM = WebMMuxer(title: "family")
        let pages = ticks(packets).map { container == "ogg" ? ogg.append($0) : webM.append($0) }
        let header = container == "ogg" ? ogg.header : webM.header
        folder.write(pages.dropFirst(15).reduce(header, +), to: "live.\(container)")
        let late = ticks(packets).dropFirst(15).flatMap { $0 }
        try expectSame(try decodedByFFmpeg("live.\(container)"), as: late)
    }

    @Test(arguments: ["ogg", "webm"])
    func theLongestPacketsAreIntact(container: String) throws {
        // Packets with padding up to 1400 bytes, more than 255 segments of Ogg in a tick.
        let coded = try CodedTone.packets(seconds: 1)
        var position = FrameCount.zero
        let packets = coded.map { payload in
            defer { position += FrameCount(960) }
            return LivePacket(
                start: position, frameCount: FrameCount(960), payload: CodedTone.padded(payload, to: 1_400),
                content: .audio)
        }
        let ogg = OggMuxer(serial: 1, title: "family")
        let webM = WebMMuxer(title: "family")
        let page = container == "ogg" ? ogg.header + ogg.append(packets) : webM.header + webM.append(packets)
        folder.write(page, to: "live.\(container)")
        try expectSame(try decodedByFFmpeg("live.\(container)"), as: packets)
    }

    @Test func aNumberOfEBMLIsAsShortAsItCanBe() {
        // 127 bytes need a size of two bytes, because 0xFF means an unknown size.
        for count in [1, 110, 118, 126, 127, 128, 16_370, 16_400] {
            let packet = LivePacket(
                start: .zero, frameCount: FrameCount(960), payload: [UInt8](repeating: 8, count: count), content: .audio
            )
            let bytes = WebMMuxer(title: "a").append([packet])
            let size = bytes.count - 4
            let isLong = bytes[4] == 1
            let isShort = bytes[4] & 0x80 != 0
            let content = isLong ? size - 8 : isShort ? size - 1 : size - 2
            let stated =
                isLong
                ? bytes[5..<12].reduce(0) { $0 << 8 | Int($1) }
                : isShort ? Int(bytes[4] & 0x7F) : Int(bytes[4] & 0x3F) << 8 | Int(bytes[5])
            #expect(stated == content)
        }
    }
}
