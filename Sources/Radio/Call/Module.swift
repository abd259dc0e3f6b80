// Calls between stations that found each other: invite, ring, accept, decline, hang up; and the question whether a
// station still answers (Protocol/12-call.md). This module knows no socket, clock or audio.
