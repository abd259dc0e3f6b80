/// What is done to the microphone's audio before it is encoded.
public struct VoiceSettings: Hashable, Sendable {
    /// Whether the echo of the loudspeaker is removed.
    public var cancelsEcho = false
    /// Whether steady noise is attenuated.
    public var suppressesNoise = false
    /// Whether quiet speech is amplified, and loud speech attenuated.
    public var controlsGain = false
    /// The gain of the microphone in decibels, −20…30, before everything else.
    public var microphoneGain: Float = 0

    public init() {}
}
