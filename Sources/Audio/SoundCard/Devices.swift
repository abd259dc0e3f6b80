import CALSA
import Glibc
public import TenfourAudioCore

/// A sound card: its ALSA name, and the formats that it supports.
public struct Device: Hashable, Sendable {
    /// The name that opens the device, such as `default` or `hw:CARD=USB,DEV=0`.
    public let name: String
    /// The driver's or configuration's description, in one line; may be empty.
    public let description: String
    public let playback: Offer
    public let capture: Offer

    /// The rates and formats that a device supports in one direction.
    public enum Offer: Hashable, Sendable {
        case grants(Capabilities)
        /// The device does not support this direction.
        case nothing
        /// The device is not available at the moment: busy, not permitted, broken.
        case refuses(SoundCardError)
    }

    /// The capabilities of a device, from its configuration space.
    public struct Capabilities: Hashable, Sendable {
        /// The usual sample rates, from 8 to 192 kHz, that the device supports, lowest first.
        public let rates: [SampleRate]
        /// The lowest and the highest rate, in hertz.
        public let rateRange: ClosedRange<Int>
        public let channelCounts: ClosedRange<Int>
        /// The shortest and the longest period, in frames at 48 000 Hz or the nearest supported rate.
        public let periods: ClosedRange<FrameCount>
        /// The sample formats that both the device and this module support, by their ALSA names such as `S16_LE`; may
        /// be empty.
        public let sampleFormats: [String]
    }
}

extension Device {
    /// Lists the names of ALSA's configuration, then the cards that it does not name. Opens each device for a moment,
    /// without disturbing other programs. May take long with a sound server, so do not call it on an audio thread.
    public static func list() -> [Device] {
        named().map { hint in
            Device(
                name: hint.name, description: hint.description,
                playback: hint.directions.contains(.playback) ? offer(of: hint.name, .playback) : .nothing,
                capture: hint.directions.contains(.capture) ? offer(of: hint.name, .capture) : .nothing)
        }
    }

    /// Lists the names of `list()`, and opens no device.
    public static func names() -> [String] { named().map(\.name) }

    private static func named() -> [Hint] {
        ALSAMessages.divertFromTerminal()
        var names = hints()
        for card in hardware() where !names.contains(where: { $0.name == card.name }) { names.append(card) }
        return names
    }

    private struct Hint {
        var name: String
        var description: String
        var directions: Set<Direction>
    }

    /// Returns the hints of ALSA's configuration (`snd_device_name_hint`), without names that only route audio to
    /// another device.
    private static func hints() -> [Hint] {
        var list: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        guard unsafe snd_device_name_hint(-1, "pcm", &list) >= 0, let list = unsafe list else { return [] }
        defer { unsafe snd_device_name_free_hint(list) }
        var hints: [Hint] = []
        var next = unsafe list
        while let entry = unsafe next.pointee {
            unsafe next += 1
            guard let name = unsafe text(snd_device_name_get_hint(entry, "NAME")), !isRouting(name) else { continue }
            let description = unsafe text(snd_device_name_get_hint(entry, "DESC")) ?? ""
            // A hint without IOID is for both directions.
            let directions: Set<Direction> =
                switch unsafe text(snd_device_name_get_hint(entry, "IOID")) {
                case "Input": [.capture]
                case "Output": [.playback]
                default: [.playback, .capture]
                }
            hints.append(
                Hint(
                    name: name, description: description.split(separator: "\n").joined(separator: ", "),
                    directions: directions))
        }
        return hints
    }

    private static func isRouting(_ name: String) -> Bool {
        let kind = name.prefix { $0 != ":" }
        let others = [
            "center_lfe", "dmix", "dsnoop", "front", "hdmi", "iec958", "modem", "phoneline", "rear", "side", "spdif",
            "usbstream", "upmix", "vdownmix", "lavrate", "samplerate", "speexrate", "speex",
        ]
        return kind.hasPrefix("surround") || others.contains { kind == $0 }
    }

    /// Whether the kernel has any card.
    static var kernelHasCards: Bool {
        var card: Int32 = -1
        return unsafe snd_card_next(&card) >= 0 && card >= 0
    }

    /// Returns the kernel's cards (`snd_card_next`) with their PCMs (`snd_ctl_pcm_next_device`). They are named by
    /// their ids, which do not depend on the order in which the cards were plugged in.
    private static func hardware() -> [Hint] {
        var hints: [Hint] = []
        var card: Int32 = -1
        while unsafe snd_card_next(&card) >= 0, card >= 0 {
            var control: OpaquePointer?
            guard unsafe snd_ctl_open(&control, "hw:\(card)", SND_CTL_NONBLOCK) >= 0, let control = unsafe control
            else { continue }
            defer { unsafe snd_ctl_close(control) }
            var info: OpaquePointer?
            unsafe snd_ctl_card_info_malloc(&info)
            guard let info = unsafe info else { continue }
            defer { unsafe snd_ctl_card_info_free(info) }
            guard unsafe snd_ctl_card_info(control, info) >= 0 else { continue }
            let id = unsafe snd_ctl_card_info_get_id(info).map { unsafe String(cString: $0) } ?? "\(card)"
            let description = unsafe snd_ctl_card_info_get_name(info).map { unsafe String(cString: $0) } ?? ""
            var device: Int32 = -1
            while unsafe snd_ctl_pcm_next_device(control, &device) >= 0, device >= 0 {
                hints.append(
                    Hint(
                        name: "hw:CARD=\(id),DEV=\(device)", description: description,
                        directions: [.playback, .capture]))
            }
        }
        return hints
    }

    /// Copies and frees a string of alsa-lib.
    private static func text(_ string: UnsafeMutablePointer<CChar>?) -> String? {
        guard let string = unsafe string else { return nil }
        defer { unsafe free(string) }
        return unsafe String(cString: string)
    }

    private static let usualRates = [
        8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 88_200, 96_000, 176_400, 192_000,
    ]

    private static func offer(of name: String, _ direction: Direction) -> Offer {
        do throws(SoundCardError) {
            let pcm = try unsafe openPCM(name, direction)
            defer { unsafe snd_pcm_close(pcm) }
            var all = try unsafe HardwareParameters.all(of: pcm, device: name, resampling: false)
            let rates = usualRates.filter { all.grants(rate: $0) }
            let (rateRange, channelCounts) = (all.rates, all.channelCounts)
            let formats = SampleFormat.allCases.filter { all.grants($0) }
            all.narrow(toRateNear: SampleRate.opus.hertz)
            let periods = all.periods
            return .grants(
                Capabilities(
                    rates: rates.map { SampleRate(hertz: $0) }, rateRange: rateRange, channelCounts: channelCounts,
                    periods: FrameCount(periods.lowerBound)...FrameCount(periods.upperBound),
                    sampleFormats: formats.map(\.name)))
        } catch {
            switch error {
            case .wrongDirection, .noSuchDevice, .noCard: return .nothing
            default: return .refuses(error)
            }
        }
    }
}
