// Sound as a picture: decibels over time as bars, what was made up in it, and the delay beneath; on paper and in a terminal.
// This module never plays or decodes sound, and never opens a file.
