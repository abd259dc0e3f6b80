// Plays feeds.
