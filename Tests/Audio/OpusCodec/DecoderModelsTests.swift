import TenfourAudioCore
import TenfourOpusCodec
import Testing

/// libopus before 1.5 has no models; Debian 13's 1.5.2 has both (`LD_LIBRARY_PATH` may name a folder with it).
@Suite struct DecoderModelsTests {
    @Test func modelsAreFoundByTrial() throws {
        let trial = try DecoderTrial(measuresCosts: false)
        var decoder = try OpusDecoder()
        let takesComplexity = (try? decoder.setComplexity(.plc)) != nil
        #expect(takesComplexity || trial.models == DecoderModels())
        #expect(trial.models.conceal || !trial.models.enhance, "NoLACE comes with deep PLC")
        #expect(trial.models == DecoderModels.loaded)
        #expect(trial.costs.isEmpty, "no time is measured")
        #expect(OpusDecoder.library.hasPrefix("libopus "))
        // Debian 13 builds libopus with its models, which must be found there.
        if OpusDecoder.library == "libopus 1.5.2" {
            #expect(trial.models == DecoderModels(conceal: true, enhance: true))
        }
    }

    @Test func costsAreMeasuredWithinTheLimitAndAreInOrder() throws {
        let trial = try DecoderTrial(measuresCosts: true)
        guard trial.models.conceal else { return #expect(trial.costs.isEmpty || !trial.models.enhance) }
        let plain = try #require(trial.costs[.plain])
        let plc = try #require(trial.costs[.plc])
        #expect(plain.decoded > .zero && plc.concealed > plain.concealed)
        #expect(trial.stackByteCount > 4_096 && trial.stackByteCount < 1 << 19)
    }

    @Test func theSettingOfAnOldLibraryIsNamedInItsError() throws {
        var decoder = try OpusDecoder()
        do {
            try decoder.setComplexity(.noLACE)
        } catch {
            #expect(error.function == .decoderComplexity && error.code == .unimplemented)
        }
    }

    @Test func aModelChangesWhatIsLostAndNothingElse() throws {
        guard DecoderModels.loaded.conceal else { return }
        let packets = try codedTone(count: 20)
        var plain = try OpusDecoder()
        var deep = try OpusDecoder()
        try deep.setComplexity(.plc)
        for packet in packets { #expect(try sound(of: packet, by: &plain) == sound(of: packet, by: &deep)) }
        #expect(try sound(of: nil, by: &plain) != sound(of: nil, by: &deep))
    }

    private func codedTone(count: Int) throws -> [[UInt8]] {
        var settings = OpusEncoderSettings()
        settings.bitRate = 20_000
        var encoder = try OpusEncoder(settings: settings)
        return try (0..<count).map { number in
            // A sawtooth of 200 Hz.
            let samples = (0..<960).map { Float((number * 960 + $0) % 240) / 240 - 0.5 }
            var packet = [UInt8](repeating: 0, count: 1_276)
            var room = packet.mutableSpan
            let byteCount = try encoder.encode(samples.span, into: &room)
            return Array(packet.prefix(byteCount))
        }
    }

    private func sound(of packet: [UInt8]?, by decoder: inout OpusDecoder) throws -> [Float] {
        var samples = [Float](repeating: 0, count: 960)
        var room = samples.mutableSpan
        if let packet {
            _ = try decoder.decode(packet.span, into: &room)
        } else {
            try decoder.conceal(FrameCount(960), into: &room)
        }
        return samples
    }
}
