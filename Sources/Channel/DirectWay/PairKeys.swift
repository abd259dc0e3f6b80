package import TenfourChannelKeys
package import TenfourManagedChannel

/// The keys that only the two members of a pair have. They follow from the two identities.
package struct PairKeys: Sendable {
    /// The index of this member.
    package let own: UInt16
    /// The index of the other member.
    package let other: UInt16
    private let root: SecretBytes

    /// Returns nil if both are the same member, or the other key is of low order.
    package init?(_ identity: MemberIdentity, _ own: UInt16, with key: IdentityKey, _ other: UInt16, channelID: UInt128)
    {
        guard own != other, let agreed = identity.agreement(with: key) else { return nil }
        self.own = own
        self.other = other
        let salt = label("tenfour 1 pair") {
            $0.append(number: channelID)
            $0.append(number: min(own, other))
            $0.append(number: max(own, other))
        }
        root = agreed.withBytes { HKDF.extract(salt: salt.span, secret: $0) }
    }

    /// The key of the candidates that `sender` seals in the run that has drawn `salt`.
    func candidateKey(of sender: UInt16, salt: UInt128) -> SecretBytes {
        HKDF.expand(
            root,
            label("candidates") {
                $0.append(number: sender)
                $0.append(number: salt)
            }, count: 32)
    }

    /// The key of the probes from `sender`, in its run `salt`, to the other member in its run `receiver`.
    package func probeKey(of sender: UInt16, salt: UInt128, receiver: UInt128) -> SecretBytes {
        HKDF.expand(
            root,
            label("probe") {
                $0.append(number: sender)
                $0.append(number: salt)
                $0.append(number: receiver)
            }, count: 32)
    }
}
