import CALSA
import Glibc

/// The reason why a card was lost.
public enum CardLoss: Hashable, Sendable {
    /// The card was unplugged, or its driver or sound server ended.
    case unplugged
    /// The card reports that it runs, but its position did not move for half a second or longer.
    case stalled
    /// An ALSA call failed with this negative errno, and nothing can recover it.
    case failed(code: Int32)
}

extension CardLoss: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unplugged: "the sound card is gone"
        case .stalled: "the sound card stopped responding"
        case .failed(let code): "the sound card failed: \(ALSAMessages.text(code))"
        }
    }
}

/// The recovery that an ALSA result requires. Only decides; the cards perform it.
enum RecoveryAction: Equatable {
    case proceed
    /// The card has no frames or no space now, whatever it reported before: try again after a short sleep.
    case waitBriefly
    /// The PCM is prepared but not running: fill the queue of a playing card, then start.
    case start
    /// The PCM was stopped by an underrun or overrun: prepare, then start.
    case prepare
    /// The PCM was suspended with the machine: resume, or prepare if the driver cannot resume.
    case resume
    case giveUp(CardLoss)
}

/// The state of a PCM (`snd_pcm_state_t`), as far as it matters for recovery.
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

/// The result of a `poll` with a timeout.
enum PollOutcome: Equatable {
    case ready, timedOut
    /// `POLLERR`: the PCM's state shows the reason.
    case troubled
    /// `POLLHUP` or `POLLNVAL`: the descriptor is dead.
    case abandoned
}

extension RecoveryAction {
    /// Chooses the recovery by the `code` that an ALSA call returned (zero or above, or a negative errno) and the PCM's
    /// state after the call.
    @_noAllocation @_noLocks
    init(code: Int32, state: PCMState) {
        // The state is checked before the result, because the error of a stopped PCM depends on its plugin. Some
        // plugins even succeed and return an outdated number: after an underrun, an external plugin still reports the
        // previous `snd_pcm_delay`.
        switch state {
        case .disconnected: self = .giveUp(.unplugged)
        case .suspended: self = CardLoss.isGone(code) ? .giveUp(.unplugged) : .resume
        case .xrun, .setup, .draining, .paused: self = CardLoss.isGone(code) ? .giveUp(.unplugged) : .prepare
        case .open: self = .giveUp(code < 0 ? CardLoss(code: code) : .unplugged)
        case .prepared, .running:
            switch -code {
            case EAGAIN: self = .waitBriefly
            case EPIPE: self = .prepare
            case ESTRPIPE: self = .resume
            case _ where code < 0 && code != -EINTR: self = .giveUp(CardLoss(code: code))
            default: self = state == .prepared ? .start : .proceed
            }
        }
    }

    /// Chooses the recovery by the result of a `poll` and the PCM's state before it. An underrun during the poll is
    /// `.troubled` too, so the caller checks the state again before it reports a loss.
    @_noAllocation @_noLocks
    init(poll outcome: PollOutcome, state: PCMState) {
        switch outcome {
        case .ready, .timedOut: self = .proceed
        case .abandoned: self = .giveUp(.unplugged)
        case .troubled:
            let remedy = RecoveryAction(code: 0, state: state)
            switch remedy {
            case .proceed, .start: self = .giveUp(.stalled)
            default: self = remedy
            }
        }
    }
}

extension CardLoss {
    /// Classifies a negative `code` that cannot be recovered. The kernel returns `EIO` for a card without interrupts.
    @_noAllocation @_noLocks
    init(code: Int32) { self = CardLoss.isGone(code) ? .unplugged : code == -EIO ? .stalled : .failed(code: code) }

    @_noAllocation @_noLocks
    fileprivate static func isGone(_ code: Int32) -> Bool { code == -ENODEV || code == -ENXIO || code == -EBADF }
}
