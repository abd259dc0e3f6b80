import CUV

/// Calls back on the thread of a loop when the process has received a signal. The C type is `uv_signal_t`.
final class SignalHandle: LoopHandle {
    private var caught: (() -> Void)?

    init(on loop: EventLoop, _ number: Int32, _ caught: @escaping () -> Void) throws(NetworkError) {
        let signal = unsafe try Self.initialised("uv_signal_init") { unsafe uv_signal_init(loop.loop, $0) }
        self.caught = caught
        unsafe super.init(adopting: signal)
        let code = unsafe uv_signal_start(signal, signalCaught, number)
        if code != 0 {
            close()
            throw NetworkError("uv_signal_start", code)
        }
    }

    override func willClose() { caught = nil }

    fileprivate func call() { caught?() }
}

@c private func signalCaught(_ signal: UnsafeMutablePointer<uv_signal_t>?, _: Int32) {
    guard let signal = unsafe signal else { return }
    unsafe LoopHandle.owner(of: signal, as: SignalHandle.self).call()
}
