/// The computations that libsodium has done for the calling thread so far.
struct macs {
    /// The number of HMAC-SHA256 computations begun.
    unsigned long hmacs;
    /// The number of bytes of keys and messages in these computations.
    unsigned long hmac_bytes;
    /// The number of SipHash-2-4 computations, of 64 or 128 bits.
    unsigned long siphashes;
    /// The number of X25519 scalar multiplications.
    unsigned long multiplications;
};

struct macs macs_of_this_thread(void);
