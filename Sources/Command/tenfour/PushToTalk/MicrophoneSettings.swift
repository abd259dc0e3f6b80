import TenfourPushToTalk

/// How the microphone of a session is opened.
struct MicrophoneSettings {
    var lease = PushToTalk.Settings()
    /// Whether the talker's voice opens the microphone (VOX).
    var followsVoice = false
    /// The devices that hold the microphone.
    var switches: [DeviceSwitch] = []
    var tones = ToneChoice()
    /// Whether the floor is requested before talking, even where it is not required.
    var asksForFloor = false
}
