import ArgumentParser
import TenfourAudioCore
import TenfourCommandSupport
import TenfourPushToTalk
import TenfourRadio

/// The options about when the microphone is open, and what the user hears about it.
struct MicrophoneOptions: ParsableArguments {
    @Flag(help: "Begin with the microphone open.")
    var open = false

    @Option(
        help: ArgumentHelp(
            "A key, line or button to hold while you talk: evdev:KEY_F13, gpio:NAME or hid; `tenfour devices --ptt` lists them.",
            valueName: "device"))
    var ptt: [String] = []

    @Flag(help: "Take the input device of --ptt evdev:KEY@NAME away from all other programs.")
    var pttGrab = false

    @Flag(help: "Open the microphone while you talk (VOX).")
    var vox = false

    @Option(
        help: ArgumentHelp(
            "The longest transmission, such as 3m, or none. After it the microphone stays closed until you let go, and 2 s more. Default: 3m, with --open none.",
            valueName: "time|none"))
    var timeOut: TimeOut?

    @Option(
        help: ArgumentHelp(
            "How much from before the microphone opens is sent with it, up to 500 ms; a bare number is in milliseconds. With 0 the card is closed while the microphone is, except with --vox. Default: 150 ms.",
            valueName: "time"))
    var preRoll: Time<BareMilliseconds>?

    @Flag(
        help: "Ask for the floor before talking: one talks at a time. A channel may require this without the option.")
    var floor = false

    @Flag(help: "As --floor, and wait in the queue while another talks, as long as the key is held.")
    var floorQueue = false

    @Flag(
        help:
            "Hear the others while you talk. With --open this is the default. Use headphones, or --echo-cancel."
    )
    var duplex = false

    @Option(
        help: ArgumentHelp(
            "The tones that you hear, separated by commas: \(SignalTone.names); all; none. Default: all but roger.",
            valueName: "list"))
    var tones: ToneChoice?

    func validate() throws {
        if let preRoll, preRoll.duration > .milliseconds(500) {
            throw ValidationError("--pre-roll is 500 ms at most")
        }
        if pttGrab, ptt.isEmpty { throw ValidationError("--ptt-grab needs --ptt evdev:KEY@NAME") }
        for name in ptt {
            do throws(PTTDeviceError) { _ = try PTTSource(parsing: name) } catch {
                throw ValidationError("--ptt \(String(fromPeer: name)): \(error)")
            }
        }
    }

    func apply(to configuration: inout RadioConfiguration) {
        configuration.beginsOpen = open
        configuration.floor = floor || floorQueue ? .always(waits: floorQueue) : .ifRequired
        configuration.duplex = duplex || open ? .full : .half
        configuration.coding.preRoll = open ? .zero : preRoll?.duration ?? .milliseconds(150)
        configuration.closesCaptureCard = preRoll?.duration == .zero && !open && !vox
    }

    /// Throws if a device of --ptt cannot be used.
    func settings() throws(RadioError) -> MicrophoneSettings {
        var settings = MicrophoneSettings()
        settings.lease.timeOut = timeOut.map(\.duration) ?? (open ? nil : settings.lease.timeOut)
        settings.followsVoice = vox
        settings.asksForFloor = floor || floorQueue
        settings.tones = tones ?? ToneChoice()
        for name in ptt {
            do throws(PTTDeviceError) {
                settings.switches.append(try DeviceSwitch(PTTSource(parsing: name), grabs: pttGrab))
            } catch {
                throw RadioError(error.kind == .invalid ? .usage : .unavailable, "\(error)")
            }
        }
        return settings
    }
}

/// The tones that the user wants to hear.
struct ToneChoice: ExpressibleByArgument, Hashable {
    private(set) var tones = Set(SignalTone.allCases).subtracting([.roger])

    init() {}

    init?(argument: String) {
        switch argument {
        case "all": tones = Set(SignalTone.allCases)
        case "none": tones = []
        default:
            tones = []
            for name in argument.split(separator: ",", omittingEmptySubsequences: false) {
                guard let tone = SignalTone(name: String(name)) else { return nil }
                tones.insert(tone)
            }
        }
    }
}

extension SignalTone {
    /// The names of all tones, for messages.
    static var names: String { allCases.map(\.name).joined(separator: ", ") }
}
