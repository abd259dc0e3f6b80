import ArgumentParser
import TenfourRadio
import TenfourVoiceProcessing

/// The options about what is done to the microphone's audio.
struct VoiceOptions: ParsableArguments {
    @Flag(
        help:
            "Remove the echo of the loudspeaker from the microphone. With --open this is the default. Without --open and --duplex there is no echo."
    )
    var echoCancel = false

    @Flag(help: "With --open, do not remove the echo: for headphones.")
    var noEchoCancel = false

    @Flag(help: "Attenuate steady noise, such as that of a fan or an engine.")
    var denoise = false

    @Flag(help: "Amplify quiet speech, and attenuate loud speech.")
    var agc = false

    @Option(
        help: ArgumentHelp(
            "Amplify the microphone by this number of decibels, -20 to 30, before everything else. Default: 0.",
            valueName: "dB"))
    var microphoneGain: Float = 0

    @Flag(
        help:
            "While nobody talks, send the background noise only every 600 ms, with an open microphone and Opus. Encrypted streams send all packets."
    )
    var dtx = false

    func validate() throws {
        if echoCancel, noEchoCancel { throw ValidationError("--echo-cancel and --no-echo-cancel exclude each other") }
        guard (-20...30).contains(microphoneGain) else { throw ValidationError("--microphone-gain is -20 to 30") }
    }

    /// `isOpen` is whether the microphone stays open, beside a loudspeaker.
    func apply(to configuration: inout RadioConfiguration, isOpen: Bool) {
        configuration.voice.cancelsEcho = (echoCancel || isOpen) && !noEchoCancel
        configuration.voice.suppressesNoise = denoise
        configuration.voice.controlsGain = agc
        configuration.voice.microphoneGain = microphoneGain
        configuration.coding.isDiscontinuous = dtx
    }
}
