// Between a packet's arrival and the moment it must sound: queue, measure, decide.
// This room never knows a thread, a clock, a codec or a card, and never allocates after init. Its time is the number of
// frames the card has asked for: the card is the clock.
