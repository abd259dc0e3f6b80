// Draws audio as a picture or as text in a terminal: levels over time as bars, lost parts, and the playout delay
// beneath. This module neither plays nor decodes audio and opens no file.
