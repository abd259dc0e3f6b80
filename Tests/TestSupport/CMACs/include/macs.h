/// What the calling thread has had libsodium authenticate, since it began.
struct macs {
    /// HMAC-SHA256 computations that were begun.
    unsigned long hmacs;
    /// Bytes of keys and messages that went into those.
    unsigned long hmac_bytes;
    /// SipHash-2-4 computations, of 64 or 128 bits.
    unsigned long siphashes;
};

struct macs macs_of_this_thread(void);
