// The tones that a station plays to its own user, such as the permission to talk. They are computed, and never sent. This
// module does not know who plays them and when.
