import TenfourAudioCore
import TenfourUV

/// The keys of a relay that runs in a terminal.
final class RelayKeys {
    static let help = "q stops the relay and tells its members, ? shows the keys; tenfour relay status shows its state"

    private let keyboard: Keyboard
    private var timer: LoopTimer?

    private static let interval = Duration.milliseconds(200)

    /// Nil where standard input is no terminal. The terminal is as it was before when this goes.
    init?() {
        guard let keyboard = Keyboard() else { return nil }
        self.keyboard = keyboard
    }

    /// Calls back for each key, as long as `loop` runs and this lives.
    func listen(on loop: EventLoop, _ press: @escaping (Character) -> Void) throws(NetworkError) {
        let timer = try loop.makeTimer { [unowned self, unowned loop] in
            if case .character(let key)? = keyboard.key(within: 0, beforeStopping: {}) { press(key) }
            self.timer?.arm(at: loop.now + Self.interval)
        }
        self.timer = timer
        timer.arm(at: loop.now)
    }
}
