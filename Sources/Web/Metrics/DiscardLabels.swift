internal import TenfourRelayCore
internal import TenfourRelayServer
internal import TenfourSession

extension RelayDiscard {
    /// Whether a join was refused. All other reasons concern packets of members and datagrams of strangers.
    var isJoin: Bool {
        switch self {
        case .cookie, .tooManyHandshakes, .tooManyFailures, .unproved, .refused, .rekeyed, .replayedJoin, .weakShare,
            .otherRelayKey, .notAdmitted, .full, .tooManyJoins, .stopping:
            true
        default: false
        }
    }

    /// The value of the label `reason`. It stays the same in later versions, because alert rules name it.
    var label: String {
        switch self {
        case .unknownProtocol: "unknown_protocol"
        case .malformedControl: "malformed_control"
        case .unexpectedControl: "unexpected_control"
        case .cookie: "bad_cookie"
        case .tooManyHandshakes: "too_many_handshakes"
        case .tooManyFailures: "too_many_failures"
        case .unproved: "wrong_secret"
        case .refused: "wrong_link"
        case .rekeyed: "former_secret"
        case .replayedJoin: "replayed"
        case .weakShare: "weak_key_share"
        case .otherRelayKey: "other_relay_key"
        case .notAdmitted: "not_admitted"
        case .full: "full"
        case .tooManyJoins: "too_many_joins"
        case .stopping: "stopping"
        case .unknownSession: "unknown_session"
        case .forgedRecord: "forged_record"
        case .replayedRecord: "replayed_record"
        case .malformedRecord: "malformed_record"
        case .tooManyRecords: "too_many_records"
        case .strayPathAnswer: "stray_path_answer"
        case .malformedMedia: "malformed_media"
        case .strangerMedia: "unknown_address"
        case .listenerMedia: "listener_media"
        case .earlyMedia: "early_media"
        case .forgedMedia: "forged_media"
        case .replayedMedia: "replayed_media"
        case .unannounced: "unannounced_ssrc"
        case .takenSSRC: "taken_ssrc"
        case .tooManyAnnouncements: "too_many_announcements"
        case .tooManyPackets: "talker_packet_limit"
        case .tooManyBits: "talker_bit_limit"
        case .tooManyNACKs: "too_many_nacks"
        case .tooManyTalkers: "too_many_talkers"
        case .tooManyVoices: "too_many_voices"
        case .tooManyChannelBits: "channel_bit_limit"
        case .staleReceipt: "stale_receipt"
        case .withoutFloor: "without_floor"
        case .notASigner: "not_a_signer"
        case .depositForStranger: "deposit_for_stranger"
        case .olderDeposit: "older_deposit"
        case .falseRoster: "false_roster"
        case .tooManyPlaces: "too_many_places"
        case .wrongNumber: "wrong_number"
        case .tooManyNumbers: "too_many_numbers"
        case .tooManyRuns: "too_many_runs"
        case .rendezvousFull: "rendezvous_full"
        case .strayPairing: "stray_pairing"
        case .pairingOff: "pairing_off"
        }
    }
}

extension PlainDiscard {
    /// The value of the label `reason`. It stays the same in later versions, because alert rules name it.
    var label: String {
        switch self {
        case .stranger: "unknown_sender"
        case .malformed: "malformed_media"
        case .control: "rtcp"
        case .tooMuch: "rate_limit"
        }
    }
}

extension DiscardReason {
    /// The value of the label `reason`. It stays the same in later versions, because alert rules name it.
    var label: String {
        switch self {
        case .empty: "empty"
        case .unknownProtocol: "unknown_protocol"
        case .malformedRTP: "malformed_rtp"
        case .malformedRTCP: "malformed_rtcp"
        case .unknownPayloadType: "unknown_payload_type"
        case .malformedPayload: "malformed_payload"
        case .oversizedPayload: "oversized_payload"
        case .looksEncrypted: "looks_encrypted"
        case .stranger: "unknown_sender"
        case .tooManySources: "too_many_sources"
        case .loop: "loop"
        case .collision: "ssrc_collision"
        }
    }
}
