// A session on its threads: sound cards, codec, RTP session and network, joined in a RadioSession. This module decides
// nothing about packets or peers; it carries decisions from one thread to the next.
