import TenfourAudioCore
import TenfourPushToTalk

/// Holds the microphone by devices, and by the talker's voice (VOX).
struct MicrophoneSwitches {
    private let devices: [DeviceSwitch]
    private let voice: VoiceHolder?

    /// Starts them. The lease stops the devices at its end. `level` returns the captured level, as for `VoiceHolder`.
    /// Throws if the system has no thread left.
    init(
        _ lease: MicrophoneLease, _ devices: [DeviceSwitch], followsVoice: Bool,
        level: @escaping @Sendable () -> (level: Level, number: UInt32)
    ) throws(MicrophoneLeaseError) {
        voice = followsVoice ? try VoiceHolder(lease, level: level) : nil
        self.devices = devices
        for device in devices { lease.attach(device) }
    }

    var followsVoice: Bool { voice != nil }
    /// The names of the devices, such as `evdev:KEY_F13`.
    var deviceNames: [String] { devices.map(\.name) }

    /// Returns the notices about the devices since the last call.
    func takeNotices() -> [String] { devices.flatMap { $0.takeNotices() } }

    /// Lets go of the voice's hold. Call it before the end of the lease.
    func stop() { voice?.stop() }
}
