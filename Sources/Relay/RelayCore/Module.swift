// The protocol logic of the relay (Protocol/06-control.md): which members are admitted, how long they stay, who may send, and to
// whom each packet is forwarded. Opens no socket, reads no clock, and cannot decrypt the media that it forwards.
