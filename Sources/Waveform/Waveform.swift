// Sound as a picture: decibels over time, what was made up in it, and the delay beneath.
// This room never plays or decodes sound, and never opens a file.
