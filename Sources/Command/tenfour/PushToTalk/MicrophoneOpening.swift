/// The notice about the microphone at the start of a session.
struct MicrophoneOpening {
    var beganOpen = false
    /// Whether the voice opens the microphone.
    var followsVoice = false
    var hasKeyboard = false
    /// Whether the terminal reports when a key is released.
    var reportsReleases = false
    /// The names of the devices that hold the microphone, such as `evdev:KEY_F13`.
    var devices: [String] = []
    /// Whether `tenfour ptt` can reach the session.
    var isReachable = false

    var text: String {
        if followsVoice, !beganOpen {
            return "the microphone opens while you talk (VOX); headphones keep others from opening it"
        }
        switch (beganOpen, hasKeyboard) {
        case (true, true): return "the microphone is open: space closes it"
        case (true, false): return "the microphone is open"
        case (false, true):
            return reportsReleases
                ? "the microphone is closed: hold space to talk" : "the microphone is closed: space opens it"
        case (false, false):
            guard devices.isEmpty else {
                return "the microphone is closed: hold \(devices.joined(separator: " or ")) to talk"
            }
            return "the microphone is closed, and there is no keyboard to open it: start with --open"
                + (isReachable ? ", or run tenfour ptt toggle" : "")
        }
    }
}
