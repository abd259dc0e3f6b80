internal import TenfourMediaSource
internal import TenfourSoundCard

extension MediaErrorKind {
    init(_ error: SoundCardError) {
        self =
            switch error {
            case .noCard, .noSuchDevice: .noCard
            case .busy: .cardBusy
            case .notPermitted: .notPermitted
            case .noServer, .wrongDirection, .noCommonFormat, .failed: .unusableOutput
            }
    }
}
