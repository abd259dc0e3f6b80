internal import TenfourSoundCard

extension RadioConfiguration {
    /// Throws `.unavailable` with the remedy if a session with this configuration cannot open its sound cards. Opens them
    /// as the session does, and closes them again; nothing is captured or played. May take a second.
    public func checkCards() throws(RadioError) {
        var openings: [String] = []
        var changes: [CardChanges] = []
        // Both are open at once, as in the session: some cards can do only one of the two.
        var played: PlaybackOutput?
        if case .card = output { played = try RadioLoops.openOutput(self, &openings, &changes) }
        if case .card = input { _ = try RadioLoops.openInput(self, &openings, &changes) }
        _ = consume played
    }
}
