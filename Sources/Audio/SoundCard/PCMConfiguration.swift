import CALSA
import Glibc
import TenfourAudioCore

/// The parameters to request from a card.
struct RequestedParameters {
    var format: LPCMFormat
    /// The period, in frames at `format.rate`.
    var period: Int
    /// For playback, the largest number of frames queued; for capture, the number of frames captured at a time. At
    /// `format.rate`.
    var queue: Int
    /// The sample formats to try, the preferred one first.
    var sampleFormats = SampleFormat.allCases
}

/// The parameters that a card granted; frames are counted at the granted rate.
struct NegotiatedParameters: Equatable {
    var rate: Int
    var channelCount: Int
    var sampleFormat: SampleFormat
    var period: Int
    var buffer: Int
    /// The requested `queue`, converted to the granted rate and limited by the buffer.
    var queue = 0

    /// Sets `queue`: for playback at least one and a half periods, for capture at most the buffer less one period.
    mutating func setQueue(_ requested: RequestedParameters, _ direction: Direction) {
        let wanted = requested.queue * rate / requested.format.rate.hertz
        switch direction {
        case .playback: queue = min(max(wanted, period + period / 2), buffer)
        case .capture: queue = max(1, min(wanted, buffer - period))
        }
    }
}

/// The configuration space of an open PCM, narrowed step by step. The C functions are `snd_pcm_hw_params_…`.
@safe struct HardwareParameters: ~Copyable {
    private let raw: OpaquePointer
    private let pcm: OpaquePointer
    private let device: String

    /// Returns all parameters that the card supports. `resampling` allows ALSA's plugins to offer rates that the card
    /// does not have.
    static func all(
        of pcm: OpaquePointer, device: String, resampling: Bool
    ) throws(SoundCardError) -> HardwareParameters {
        var raw: OpaquePointer?
        unsafe snd_pcm_hw_params_malloc(&raw)
        guard let raw = unsafe raw else {
            throw .failed(device, call: "snd_pcm_hw_params_malloc", code: -ENOMEM, explanation: "")
        }
        let all = unsafe HardwareParameters(raw: raw, pcm: pcm, device: device)
        try all.check(unsafe snd_pcm_hw_params_any(pcm, raw), "snd_pcm_hw_params_any")
        // Without this call, `plug` and `default` offer every rate by linear interpolation; speexdsp resamples better.
        if !resampling {
            try all.check(
                unsafe snd_pcm_hw_params_set_rate_resample(pcm, raw, 0), "snd_pcm_hw_params_set_rate_resample")
        }
        try all.check(
            unsafe snd_pcm_hw_params_set_access(pcm, raw, SND_PCM_ACCESS_RW_INTERLEAVED), "snd_pcm_hw_params_set_access"
        )
        return all
    }

    private init(raw: OpaquePointer, pcm: OpaquePointer, device: String) {
        unsafe self.raw = raw
        unsafe self.pcm = pcm
        self.device = device
    }

    deinit { unsafe snd_pcm_hw_params_free(raw) }

    /// The length of the buffer to request, in frames: 0.17 s at 48 kHz. If four periods are longer, their length is
    /// requested.
    private static let longestBuffer: snd_pcm_uframes_t = 8_192

    /// Narrows the space to the values nearest to `requested`, installs them and reads them back.
    mutating func install(_ requested: RequestedParameters) throws(SoundCardError) -> NegotiatedParameters {
        guard let sampleFormat = requested.sampleFormats.first(where: { grants($0) }) else {
            throw .noCommonFormat(device)
        }
        try check(unsafe snd_pcm_hw_params_set_format(pcm, raw, sampleFormat.raw), "snd_pcm_hw_params_set_format")

        var rate = UInt32(requested.format.rate.hertz)
        try check(unsafe snd_pcm_hw_params_set_rate_near(pcm, raw, &rate, nil), "snd_pcm_hw_params_set_rate_near")
        var channels = UInt32(requested.format.channelCount)
        try check(
            unsafe snd_pcm_hw_params_set_channels_near(pcm, raw, &channels), "snd_pcm_hw_params_set_channels_near")

        // The period is set first, because it determines how often the card reports. The buffer may be long: a long
        // buffer adds no delay, and has space for all frames that a sound server takes at once (its quantum).
        var period = snd_pcm_uframes_t(requested.period * Int(rate) / requested.format.rate.hertz)
        try check(
            unsafe snd_pcm_hw_params_set_period_size_near(pcm, raw, &period, nil),
            "snd_pcm_hw_params_set_period_size_near")
        var buffer = max(Self.longestBuffer, 4 * period)
        try check(
            unsafe snd_pcm_hw_params_set_buffer_size_near(pcm, raw, &buffer), "snd_pcm_hw_params_set_buffer_size_near")
        try check(unsafe snd_pcm_hw_params(pcm, raw), "snd_pcm_hw_params")

        unsafe snd_pcm_hw_params_get_period_size(raw, &period, nil)
        unsafe snd_pcm_hw_params_get_buffer_size(raw, &buffer)
        return NegotiatedParameters(
            rate: Int(rate), channelCount: Int(channels), sampleFormat: sampleFormat, period: Int(period),
            buffer: Int(buffer))
    }

    /// Returns whether the card supports `format`.
    func grants(_ format: SampleFormat) -> Bool { unsafe snd_pcm_hw_params_test_format(pcm, raw, format.raw) == 0 }

    func grants(rate: Int) -> Bool { unsafe snd_pcm_hw_params_test_rate(pcm, raw, UInt32(rate), 0) == 0 }

    /// The lowest and the highest rate, in hertz.
    var rates: ClosedRange<Int> {
        var (low, high): (UInt32, UInt32) = (0, 0)
        unsafe snd_pcm_hw_params_get_rate_min(raw, &low, nil)
        unsafe snd_pcm_hw_params_get_rate_max(raw, &high, nil)
        return Int(low)...Int(max(low, high))
    }

    var channelCounts: ClosedRange<Int> {
        var (low, high): (UInt32, UInt32) = (0, 0)
        unsafe snd_pcm_hw_params_get_channels_min(raw, &low)
        unsafe snd_pcm_hw_params_get_channels_max(raw, &high)
        return Int(low)...Int(max(low, high))
    }

    /// The shortest and the longest period, in frames.
    var periods: ClosedRange<Int> {
        var (low, high): (snd_pcm_uframes_t, snd_pcm_uframes_t) = (0, 0)
        unsafe snd_pcm_hw_params_get_period_size_min(raw, &low, nil)
        unsafe snd_pcm_hw_params_get_period_size_max(raw, &high, nil)
        return Int(clamping: low)...Int(clamping: max(low, high))
    }

    /// Narrows the space to the supported rate nearest to `rate`, so that `periods` counts frames at this rate.
    mutating func narrow(toRateNear rate: Int) {
        var near = UInt32(rate)
        unsafe snd_pcm_hw_params_set_rate_near(pcm, raw, &near, nil)
    }

    private func check(_ code: Int32, _ call: String) throws(SoundCardError) {
        guard code < 0 else { return }
        throw .failed(device, call: call, code: code, explanation: ALSAMessages.last)
    }
}

/// The wake-up, start and stop conditions of an open PCM. The C functions are `snd_pcm_sw_params_…`.
///
/// - The PCM starts on request only (`start_threshold` out of reach), and stops at an underrun or overrun
///   (`stop_threshold` is the buffer, ALSA's default), since only a stop is reported.
///
/// - Positions have timestamps of `CLOCK_MONOTONIC` if the driver supports them.
@safe struct SoftwareParameters: ~Copyable {
    private let raw: OpaquePointer

    /// Installs the parameters on `pcm`, whose buffer has space for `buffer` frames. `availMin` (`avail_min`) is the
    /// number of frames, ready for capture or free for playback, at which `poll` returns.
    static func installed(
        on pcm: OpaquePointer, device: String, availMin: Int, buffer: Int
    ) throws(SoundCardError) -> SoftwareParameters {
        var raw: OpaquePointer?
        unsafe snd_pcm_sw_params_malloc(&raw)
        guard let raw = unsafe raw else {
            throw .failed(device, call: "snd_pcm_sw_params_malloc", code: -ENOMEM, explanation: "")
        }
        let parameters = unsafe SoftwareParameters(raw: raw)
        var boundary: snd_pcm_uframes_t = 0
        let failures = unsafe [
            snd_pcm_sw_params_current(pcm, raw),
            snd_pcm_sw_params_get_boundary(raw, &boundary),
            snd_pcm_sw_params_set_avail_min(pcm, raw, snd_pcm_uframes_t(availMin)),
            snd_pcm_sw_params_set_start_threshold(pcm, raw, boundary),
            snd_pcm_sw_params_set_stop_threshold(pcm, raw, snd_pcm_uframes_t(buffer)),
            snd_pcm_sw_params_set_tstamp_mode(pcm, raw, SND_PCM_TSTAMP_ENABLE),
        ]
        // Requests timestamps of the monotonic clock. A failure is ignored: an old driver has only one clock, and if
        // its timestamps are of another clock, `PCMCalls.observe` ignores them.
        _ = unsafe snd_pcm_sw_params_set_tstamp_type(pcm, raw, SND_PCM_TSTAMP_TYPE_MONOTONIC)
        let installed = unsafe snd_pcm_sw_params(pcm, raw)
        if let code = (failures + [installed]).first(where: { $0 < 0 }) {
            throw .failed(device, call: "snd_pcm_sw_params", code: code, explanation: ALSAMessages.last)
        }
        return parameters
    }

    private init(raw: OpaquePointer) { unsafe self.raw = raw }

    deinit { unsafe snd_pcm_sw_params_free(raw) }

    /// Changes `avail_min`, also of a running PCM.
    @_noAllocation @_noLocks
    func install(availMin: Int, on pcm: OpaquePointer) { unsafe PCMCalls.setAvailMin(pcm, raw, availMin) }
}

extension SampleFormat {
    /// ALSA's constant for this format, in native byte order.
    var raw: snd_pcm_format_t {
        switch self {
        case .int16: SND_PCM_FORMAT_S16
        case .int32: SND_PCM_FORMAT_S32
        case .float: SND_PCM_FORMAT_FLOAT
        case .packed24: SND_PCM_FORMAT_S24_3LE
        case .low24: SND_PCM_FORMAT_S24
        }
    }

    /// ALSA's name of the format (`snd_pcm_format_name`), such as `S16_LE`.
    var name: String { unsafe snd_pcm_format_name(raw).map { unsafe String(cString: $0) } ?? "" }
}
