/// A key, process, device or person that holds the microphone. The microphone is open while any holder holds it.
public enum MicrophoneHolder: Hashable, Sendable {
    /// A key of the terminal in which the session runs.
    case keyboard
    /// SIGUSR1, until SIGUSR2.
    case signal
    /// A process that is connected to the control socket, by the number of its connection.
    case client(Int)
    /// The session itself, on behalf of a process that did not stay, or from the start.
    case session
    /// The talker's voice (VOX).
    case voice
    /// A key, pin or pedal outside of the terminal, by its name, such as `evdev:KEY_F13`.
    case device(String)
}

extension MicrophoneHolder: CustomStringConvertible {
    /// The holder as the end of a sentence such as "held by …".
    public var description: String {
        switch self {
        case .keyboard: "the keyboard"
        case .signal: "a signal"
        case .client: "tenfour ptt"
        case .session: "this session"
        case .voice: "the voice"
        case .device(let name): name
        }
    }

    /// A word for programs, such as `keyboard`, or `device:evdev:KEY_F13`.
    var word: String {
        switch self {
        case .keyboard: "keyboard"
        case .signal: "signal"
        case .client(let number): "client:\(number)"
        case .session: "session"
        case .voice: "voice"
        case .device(let name): "device:\(name)"
        }
    }
}
