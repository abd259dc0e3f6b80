// The relay that decides: who is let in, who stays, who may speak, and what goes to whom (Protocol/06-control.md).
// Opens no socket, reads no clock, and cannot open what it passes on.
