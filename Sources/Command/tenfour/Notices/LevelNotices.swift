import TenfourVoiceProcessing

/// Lines about a microphone that is too loud or too quiet, for users who see no status line.
struct LevelNotices {
    /// The advice that was told last; nil if the level was good at the end of the last transmission.
    private var told: LevelAdvice?
    private var last: LevelAdvice?
    private var wasOpen = false

    /// Returns a line if the advice is new. The same advice is told again only after a transmission that ended well.
    mutating func lines(about advice: LevelAdvice?, isOpen: Bool) -> [String] {
        defer { (wasOpen, last) = (isOpen, advice) }
        if wasOpen, !isOpen, last == nil { told = nil }
        guard isOpen, let advice, advice != told else { return [] }
        told = advice
        return ["your microphone is \(advice.words): \(advice.remedy)"]
    }
}

extension LevelAdvice {
    /// The words of the status line.
    var words: String {
        switch self {
        case .tooLoud: "too loud"
        case .tooQuiet: "too quiet"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .tooLoud: "talk from farther away, or start with a lower --microphone-gain"
        case .tooQuiet: "come nearer, or start with a higher --microphone-gain"
        }
    }
}
