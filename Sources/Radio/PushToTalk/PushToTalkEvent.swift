extension PushToTalk {
    /// What happened to the microphone, and what the permission's owner is asked for.
    public enum Event: Hashable, Sendable {
        /// The microphone opens for this holder.
        case opened(MicrophoneHolder)
        /// The microphone closes. The holder is the last one that released it; for a time-out or a revocation, the first
        /// one that held it.
        case closed(CloseReason, MicrophoneHolder)
        /// This holder may not open the microphone now.
        case refused(RefusalReason, MicrophoneHolder)
        /// The transmission is ended after this time.
        case willTimeOut(in: Duration)
        /// The microphone can be opened again after a time-out.
        case available
        /// The permission is needed: answer with `granted`, `refused` or `revoked`.
        case permissionRequested
        /// The permission is needed because of an emergency: the talker is to be interrupted. It comes before
        /// `permissionRequested`, or while the permission is requested or given.
        case emergencyRequested
        /// The permission, requested or granted, is no longer needed.
        case permissionReleased
    }

    public enum CloseReason: Hashable, Sendable {
        case released, vanished, timedOut
        /// The permission was taken back, for the reason given.
        case revoked(String?)
    }

    public enum RefusalReason: Hashable, Sendable {
        /// A time-out has closed the microphone, and not all have released it, or the hold-off has not passed.
        case timedOut
        case tooManyHolders
        /// The permission was refused, for the reason given.
        case permission(String?)
    }
}
