import ArgumentParser
import Sound
import SoundCard

struct Devices: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what can capture and play, with the rates and periods it grants.")

    /// A limit so high is none: ALSA's own plugins have such.
    private static let any = 10_000_000

    func run() {
        let devices = Device.list()
        for device in devices {
            Terminal.put("\(device.name)\n")
            if !device.description.isEmpty { Terminal.put("    \(device.description)\n") }
            Terminal.put("    captures: \(text(of: device.capture))\n    plays:    \(text(of: device.playback))\n")
        }
        if devices.isEmpty { Terminal.say("tenfour: ALSA knows no device here") }
    }

    private func text(of offer: Device.Offer) -> String {
        switch offer {
        case .nothing: "no"
        case .refuses(let error): "not now: \(error)"
        case .grants(let abilities):
            "\(rates(abilities)) Hz, \(range(abilities.channelCounts)) channels, periods of"
                + " \(range(abilities.periods.lowerBound.rawValue...abilities.periods.upperBound.rawValue)) frames,"
                + " \(abilities.sampleFormats.joined(separator: " "))"
        }
    }

    private func rates(_ abilities: Device.Abilities) -> String {
        abilities.rates.isEmpty
            ? range(abilities.rateRange) : abilities.rates.map { String($0.hertz) }.joined(separator: " ")
    }

    private func range(_ range: ClosedRange<Int>) -> String {
        if range.lowerBound == range.upperBound { return "\(range.lowerBound)" }
        return range.upperBound < Self.any
            ? "\(range.lowerBound) to \(range.upperBound)" : "\(range.lowerBound) or more"
    }
}
