import CALSA
import Glibc

/// Why a card is not there any more.
public enum CardLoss: Hashable, Sendable {
    /// It was pulled out, or its driver or sound server went away.
    case unplugged
    /// It says that it runs, but its position did not move for half a second or longer.
    case stalled
    /// An ALSA call failed with this code (negative, an errno) in a way that nothing mends.
    case failed(code: Int32)
}

extension CardLoss: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unplugged: "the sound card is gone"
        case .stalled: "the sound card stands still"
        case .failed(let code): "the sound card failed: \(Explanation.text(code))"
        }
    }
}

/// What an ALSA answer asks for. Only decides: the cards do.
enum Remedy: Equatable {
    case goOn
    /// There is nothing to read or no room to write, whatever the card said before.
    case waitALittle
    /// Prepared but not running: fill the queue of a playing card, then start.
    case start
    /// Stopped by an underrun or overrun: prepare, then start.
    case prepare
    /// Suspended with the machine: resume, or prepare where the driver cannot.
    case resume
    case giveUp(CardLoss)
}

/// The state of a PCM (`snd_pcm_state_t`), as far as it matters to a remedy.
enum PCMState: Equatable {
    case open, setup, prepared, running, xrun, draining, paused, suspended, disconnected

    @_noAllocation @_noLocks
    init(_ state: snd_pcm_state_t) {
        switch state {
        case SND_PCM_STATE_OPEN: self = .open
        case SND_PCM_STATE_SETUP: self = .setup
        case SND_PCM_STATE_PREPARED: self = .prepared
        case SND_PCM_STATE_RUNNING: self = .running
        case SND_PCM_STATE_XRUN: self = .xrun
        case SND_PCM_STATE_DRAINING: self = .draining
        case SND_PCM_STATE_PAUSED: self = .paused
        case SND_PCM_STATE_SUSPENDED: self = .suspended
        default: self = .disconnected
        }
    }
}

/// How a bounded `poll` on a PCM ended.
enum PollOutcome: Equatable {
    case ready, timedOut
    /// `POLLERR`: the state tells why.
    case troubled
    /// `POLLHUP` or `POLLNVAL`: nobody is behind the descriptor any more.
    case abandoned
}

extension Remedy {
    /// For the `code` an ALSA call returned (zero or above, or a negative errno) and the state the PCM is in after it.
    @_noAllocation @_noLocks
    init(code: Int32, state: PCMState) {
        // A stopped PCM answers with whatever error fits its plugin, and some go on giving numbers from before
        // (an external plugin's delay after an underrun): the state is believed first.
        switch state {
        case .disconnected: self = .giveUp(.unplugged)
        case .suspended: self = CardLoss.isGone(code) ? .giveUp(.unplugged) : .resume
        case .xrun, .setup, .draining, .paused: self = CardLoss.isGone(code) ? .giveUp(.unplugged) : .prepare
        case .open: self = .giveUp(code < 0 ? CardLoss(code: code) : .unplugged)
        case .prepared, .running:
            switch -code {
            case EAGAIN: self = .waitALittle
            case EPIPE: self = .prepare
            case ESTRPIPE: self = .resume
            case _ where code < 0 && code != -EINTR: self = .giveUp(CardLoss(code: code))
            default: self = state == .prepared ? .start : .goOn
            }
        }
    }

    /// For the end of a `poll` and the state the PCM was in before it. An underrun during the poll shows as `.troubled`
    /// too, so the caller asks for the state again before it believes a loss.
    @_noAllocation @_noLocks
    init(poll outcome: PollOutcome, state: PCMState) {
        switch outcome {
        case .ready, .timedOut: self = .goOn
        case .abandoned: self = .giveUp(.unplugged)
        case .troubled:
            let remedy = Remedy(code: 0, state: state)
            switch remedy {
            case .goOn, .start: self = .giveUp(.stalled)
            default: self = remedy
            }
        }
    }
}

extension CardLoss {
    /// For a negative `code` that nothing mends. `EIO` is what the kernel says of a card that sends no interrupts.
    @_noAllocation @_noLocks
    init(code: Int32) { self = CardLoss.isGone(code) ? .unplugged : code == -EIO ? .stalled : .failed(code: code) }

    @_noAllocation @_noLocks
    fileprivate static func isGone(_ code: Int32) -> Bool { code == -ENODEV || code == -ENXIO || code == -EBADF }
}
