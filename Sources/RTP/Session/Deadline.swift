internal import TenfourAudioCore

/// Returns the earlier of two deadlines; nil if there is none. Unlike a minimum of an array, it allocates nothing.
func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
}
