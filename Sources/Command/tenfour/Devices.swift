import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourSoundCard

struct Devices: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the sound cards, with the rates and periods that they support.")

    /// A limit so high is none: ALSA's own plugins have such.
    private static let any = 10_000_000

    @Flag(name: .shortAndLong, help: "Show messages of ALSA's plugins.")
    var verbose = false

    func run() {
        // JACK's plugin would start a server.
        unsafe setenv("JACK_NO_START_SERVER", "1", 0)
        // ALSA lists plugins even where their server or card is missing.
        let devices = (verbose ? Device.list() : StandardError.discarded { Device.list() }).filter(\.doesAnything)
        for device in devices {
            Terminal.put("\(device.name)\n")
            if !device.description.isEmpty { Terminal.put("    \(device.description)\n") }
            Terminal.put("    captures: \(text(of: device.capture))\n    plays:    \(text(of: device.playback))\n")
        }
        if devices.allSatisfy(\.isNoCard) { Terminal.say("tenfour: \(SoundCardError.noCard("default"))") }
    }

    private func text(of offer: Device.Offer) -> String {
        switch offer {
        case .nothing: "no"
        case .refuses(let error): "not now: \(error.reason)"
        case .grants(let abilities):
            "\(rates(abilities)) Hz, \(range(abilities.channelCounts)) channels, periods of"
                + " \(range(abilities.periods.lowerBound.rawValue...abilities.periods.upperBound.rawValue)) frames,"
                + " \(abilities.sampleFormats.joined(separator: " "))"
        }
    }

    private func rates(_ abilities: Device.Capabilities) -> String {
        abilities.rates.isEmpty
            ? range(abilities.rateRange) : abilities.rates.map { String($0.hertz) }.joined(separator: " ")
    }

    private func range(_ range: ClosedRange<Int>) -> String {
        if range.lowerBound == range.upperBound { return "\(range.lowerBound)" }
        return range.upperBound < Self.any
            ? "\(range.lowerBound) to \(range.upperBound)" : "\(range.lowerBound) or more"
    }
}

extension Device {
    fileprivate var doesAnything: Bool { playback != .nothing || capture != .nothing }

    /// It captures silence and plays into nothing, or leads to a sound server that is not there.
    fileprivate var isNoCard: Bool { name == "null" || (playback.isNoCard && capture.isNoCard) }
}

extension Device.Offer {
    fileprivate var isNoCard: Bool {
        switch self {
        case .nothing, .refuses(.noServer): true
        case .grants, .refuses: false
        }
    }
}

/// Standard error, to which some libraries write directly, past the handlers that they offer.
private enum StandardError {
    /// Runs `body` while what is written to standard error is thrown away, by any thread. Where there is no `/dev/null`, it is not.
    static func discarded<Result>(_ body: () -> Result) -> Result {
        let (kept, nothing) = unsafe (dup(STDERR_FILENO), open("/dev/null", O_WRONLY | O_CLOEXEC))
        defer {
            for file in [kept, nothing] where file >= 0 { close(file) }
        }
        guard kept >= 0, nothing >= 0, dup2(nothing, STDERR_FILENO) >= 0 else { return body() }
        defer { dup2(kept, STDERR_FILENO) }
        return body()
    }
}
