// Draws audio: decibels over time as bars, lost parts, and the delay beneath; as a picture and in a terminal. This
// module neither plays nor decodes audio and opens no file.
