import TenfourAudioCore
import TenfourCommandSupport
import TenfourUV

/// Reads the keys that the user presses in the terminal of a running relay.
final class RelayKeys {
    static let help = "q stops the relay and tells its members, ? shows the keys; tenfour relay status shows its state"

    private let keyboard: Keyboard
    private var timer: LoopTimer?

    private static let interval = Duration.milliseconds(200)

    /// Sets the terminal's single-key mode. Returns nil if standard input is no terminal. The terminal's settings are
    /// restored when this object is released.
    init?() {
        guard let keyboard = Keyboard() else { return nil }
        self.keyboard = keyboard
    }

    /// Calls `press` with each key that the user presses, while `loop` runs and this object lives.
    func listen(on loop: EventLoop, _ press: @escaping (Character) -> Void) throws(NetworkError) {
        let timer = try loop.makeTimer { [unowned self, unowned loop] in
            if case .character(let key)? = keyboard.key(within: 0, beforeStopping: {}) { press(key) }
            self.timer?.arm(at: loop.now + Self.interval)
        }
        self.timer = timer
        timer.arm(at: loop.now)
    }
}
