import TenfourJSON
import TenfourPushToTalk
import TenfourRadio
import TenfourSession
import TenfourSystem

/// How other programs reach a station for as long as its process lives, while sessions come and go: the control socket,
/// the signals that hold the microphone, and the metrics. Any thread may use it.
final class StationControl: Sendable {
    /// Nil if no metrics are served.
    let metrics: StationMetricsServer?

    private let state = Locked(State())

    private struct State {
        var socket: PTTSocket?
        /// Why there is no socket; nil if there is one.
        var error: String?
    }

    /// Catches the signals and opens the socket. Without a socket, `notice` tells why. `metrics` says where the
    /// metrics are, which the caller opens.
    init(metrics: MetricsSettings?) {
        self.metrics = metrics.map { StationMetricsServer(at: $0) }
        TalkSignals.begin()
        state.withLock { Self.open(&$0) }
    }

    deinit { stop() }

    /// A notice if `tenfour ptt` cannot reach this station; nil if it can.
    var notice: String? { state.withLock(\.error).map { "tenfour ptt cannot reach this station: \($0)" } }

    /// Whether `tenfour ptt` can reach this station.
    var isReachable: Bool { state.withLock { $0.socket != nil } }

    /// Gives a session's microphone to other programs. A socket that could not be opened before is tried again, because
    /// the user's runtime directory may be made late.
    func attach(_ lease: MicrophoneLease, _ control: any SessionControl) {
        TalkSignals.attach(lease)
        state.withLock { state in
            if state.socket == nil { Self.open(&state) }
            state.socket?.attach(lease, control: control)
        }
    }

    /// The session has ended, and its lease is stopped.
    func detach() {
        TalkSignals.attach(nil)
        state.withLock { $0.socket?.detach() }
    }

    /// Sets what programs are told while there is no session, such as `waiting for calls`.
    func setWaiting(_ reason: String) { state.withLock { $0.socket?.setWaiting(reason) } }

    /// Sends an event to all programs that want them.
    func post(_ event: JSON) { state.withLock(\.socket)?.post(event) }

    /// Removes the socket, and closes the address of the metrics. The signals stay without effect.
    func stop() {
        TalkSignals.attach(nil)
        metrics?.stop()
        state.withLock { state in
            state.socket?.stop()
            state.socket = nil
        }
    }

    private static func open(_ state: inout State) {
        guard let directory = PTTSocketPath.directory else {
            state.error = "XDG_RUNTIME_DIR is not set: set it to a directory that only you can enter"
            return
        }
        do throws(PTTSocketError) {
            state.socket = try PTTSocket(at: PTTSocketPath.own(in: directory))
            state.error = nil
        } catch {
            state.error = "\(error)"
        }
    }
}
