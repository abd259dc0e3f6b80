// The protocol logic of the relay (Protocol/06-control.md): admission of members, their leases, permissions and limits
// of talkers, and the channel to which each packet is forwarded. This module opens no socket, reads no clock, and
// cannot decrypt the media that it forwards.
