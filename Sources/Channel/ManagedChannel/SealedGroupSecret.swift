internal import TenfourChannelKeys

/// A group secret that one member can open, by the secret part of a prekey: the BLOB of Protocol/14-group-secrets.md.
public struct SealedGroupSecret: Hashable, Sendable {
    public let prekeyID: UInt32
    private let ephemeral: Bytes32
    /// The encrypted secret.
    private let sealed: Bytes32
    private let tag: UInt128

    static let byteCount = 84

    init(parsing bytes: Span<UInt8>, at offset: Int) {
        prekeyID = bytes.number(at: offset)
        ephemeral = Bytes32(bytes, at: offset + 4)
        sealed = Bytes32(bytes, at: offset + 36)
        tag = bytes.number(at: offset + 68)
    }

    func write(into bytes: inout OutputSpan<UInt8>) {
        bytes.append(number: prekeyID)
        ephemeral.write(into: &bytes)
        sealed.write(into: &bytes)
        bytes.append(number: tag)
    }

    /// Opens the secret; nil if it was not sealed by `signer` for this member and prekey, under this id.
    func opened(
        _ id: GroupSecretID, with prekey: PrekeyPair, of identity: MemberIdentity, index: UInt16, signer: IdentityKey,
        channelID: UInt128
    ) -> GroupSecret? {
        guard prekey.id == prekeyID, let first = X25519.agreement(prekey.secret, ephemeral),
            let second = identity.agreement(with: signer)
        else { return nil }
        let context = SealingContext(
            id: id, index: index, prekeyID: prekeyID, ephemeral: ephemeral, prekey: prekey.point, channelID: channelID)
        let key = context.key(first, second)
        let bytes = [UInt8](capacity: 48) {
            sealed.write(into: &$0)
            $0.append(number: tag)
        }
        var isRight = false
        let opened = SecretBytes(count: bytes.count) { opened in
            for index in bytes.indices { opened[index] = bytes[index] }
            isRight = key.withBytes { AEAD.open(&opened, counter: 0, data: none.span, key: $0) }
        }
        guard isRight else { return nil }
        return GroupSecret(id, opened.withBytes { LockedBytes(copying: $0.extracting(0..<GroupSecret.byteCount)) })
    }

    fileprivate init(_ context: SealingContext, _ key: SecretBytes, _ secret: GroupSecret) {
        prekeyID = context.prekeyID
        ephemeral = context.ephemeral
        let bytes = [UInt8](capacity: 48) { output in
            secret.bytes.withBytes { secret in
                key.withBytes { AEAD.seal(secret, counter: 0, data: none.span, key: $0, into: &output) }
            }
        }
        sealed = Bytes32(bytes.span)
        tag = bytes.span.number(at: 32)
    }
}

/// Seals one group secret for the members, with an X25519 pair that is used for this secret only. Its secret part is
/// erased with this object.
struct GroupSecretSealer: Sendable {
    let secret: GroupSecret
    private let pair: LockedBytes
    private let point: Bytes32

    /// `pair` are 32 random bytes.
    init(_ secret: GroupSecret, pair: LockedBytes) {
        self.secret = secret
        self.pair = pair
        point = X25519.publicKey(of: pair)
    }

    /// Seals the secret for a member. Returns nil if the prekey is of low order.
    func sealed(
        for index: UInt16, _ key: IdentityKey, _ prekey: Prekey, by signer: MemberIdentity, channelID: UInt128
    ) -> SealedGroupSecret? {
        guard let first = X25519.agreement(pair, prekey.point), let second = signer.agreement(with: key) else {
            return nil
        }
        let context = SealingContext(
            id: secret.id, index: index, prekeyID: prekey.id, ephemeral: point, prekey: prekey.point,
            channelID: channelID)
        return SealedGroupSecret(context, context.key(first, second), secret)
    }
}

/// The values on which the key of a sealed group secret depends, so that the seal holds for nothing else.
private struct SealingContext {
    var id: GroupSecretID
    var index: UInt16
    var prekeyID: UInt32
    var ephemeral, prekey: Bytes32
    var channelID: UInt128

    /// Derives the key from the two shared secrets: of ephemeral key and prekey, and of the two identities.
    func key(_ first: SecretBytes, _ second: SecretBytes) -> SecretBytes {
        var salt = label("tenfour 1 seal")
        salt += [UInt8](capacity: 128) {
            $0.append(number: channelID)
            id.write(into: &$0)
            $0.append(number: index)
            $0.append(number: prekeyID)
            ephemeral.write(into: &$0)
            prekey.write(into: &$0)
        }
        let both = SecretBytes(count: 64) { both in
            first.withBytes { for index in $0.indices { both[index] = $0[index] } }
            second.withBytes { for index in $0.indices { both[32 + index] = $0[index] } }
        }
        let root = both.withBytes { HKDF.extract(salt: salt.span, secret: $0) }
        return HKDF.expand(root, label("group secret"), count: 32)
    }
}

/// No associated data.
private let none: [UInt8] = []
