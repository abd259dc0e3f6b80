import ArgumentParser
import Glibc
import TenfourAudioCore
import TenfourPushToTalk
import TenfourSoundCard

struct Devices: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the sound cards, with the rates and periods that they support, or the devices to talk with.")

    /// The smallest maximum, of a channel count or of a rate in hertz, that means "no limit". ALSA's plugins without a
    /// limit report such numbers.
    private static let any = 10_000_000

    @Flag(name: .shortAndLong, help: "Show messages of ALSA's plugins.")
    var verbose = false

    @Flag(help: "List the input devices, GPIO lines and HID buttons for talk --ptt instead.")
    var ptt = false

    func run() {
        if ptt {
            for line in PTTDeviceList.lines() { Terminal.write("\(line)\n") }
            return
        }
        // Keeps JACK's plugin from starting a server.
        unsafe setenv("JACK_NO_START_SERVER", "1", 0)
        // Discards the messages of plugins whose server or card is missing: ALSA lists these plugins too.
        let devices = (verbose ? Device.list() : StandardError.discarded { Device.list() }).filter(\.doesAnything)
        for device in devices {
            Terminal.write("\(device.name)\n")
            if !device.description.isEmpty { Terminal.write("    \(device.description)\n") }
            Terminal.write("    captures: \(text(of: device.capture))\n    plays:    \(text(of: device.playback))\n")
        }
        if devices.allSatisfy(\.isNoCard) { Terminal.log("tenfour: \(SoundCardError.noCard("default"))") }
    }

    private func text(of offer: Device.Offer) -> String {
        switch offer {
        case .nothing: "no"
        case .refuses(let error): "not now: \(error.reason)"
        case .grants(let capabilities):
            "\(rates(capabilities)) Hz, \(range(capabilities.channelCounts)) channels, periods of"
                + " \(range(capabilities.periods.lowerBound.rawValue...capabilities.periods.upperBound.rawValue)) frames,"
                + " \(capabilities.sampleFormats.joined(separator: " "))"
        }
    }

    private func rates(_ capabilities: Device.Capabilities) -> String {
        capabilities.rates.isEmpty
            ? range(capabilities.rateRange) : capabilities.rates.map { String($0.hertz) }.joined(separator: " ")
    }

    private func range(_ range: ClosedRange<Int>) -> String {
        if range.lowerBound == range.upperBound { return "\(range.lowerBound)" }
        return range.upperBound < Self.any
            ? "\(range.lowerBound) to \(range.upperBound)" : "\(range.lowerBound) or more"
    }
}

extension Device {
    fileprivate var doesAnything: Bool { playback != .nothing || capture != .nothing }

    /// Whether the device is ALSA's `null`, or belongs to a sound server that is not running.
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

/// Standard error, to which some libraries write directly, bypassing their message handlers.
private enum StandardError {
    /// Runs `body` while everything written to standard error by any thread is discarded, if `/dev/null` can be opened.
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
