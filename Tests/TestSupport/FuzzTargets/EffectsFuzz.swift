import TenfourAudioCore
import TenfourEffects

/// Feeds the bytes as the text of filters. Filters that are read must be within their limits, and must leave finite
/// samples.
func feedFilters(_ bytes: Span<UInt8>) {
    let text = String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self)
    do throws(EffectError) {
        let settings = try EffectSettings(filters: text)
        precondition((1...EffectSettings.maximumFilterCount).contains(settings.filters.count))
        try settings.check()
        let rate = SampleRate(hertz: 200_000)
        var filter = try BiquadFilter(format: LPCMFormat(rate: rate), settings.filters, capacity: 1)
        var samples = InlineArray<64, Float> { $0 % 3 == 0 ? 1 : -1 }
        var span = samples.mutableSpan
        filter.apply(to: &span)
        // Two filters with the highest gain and quality can reach 160 dB.
        guard settings.filters.count <= 2 else { return }
        for index in samples.indices { precondition(samples[index].isFinite) }
    } catch {
        checkShown(error.description)
    }
}
