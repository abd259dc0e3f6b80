#ifndef CNATS_SHIM_H
#define CNATS_SHIM_H

#include <nats/nats.h>

#include "../COnDemand/on-demand.h"

#define TENFOUR_NATS(F) \
    F(natsConnection_Close) \
    F(natsConnection_Connect) \
    F(natsConnection_Destroy) \
    F(natsConnection_GetLastError) \
    F(natsConnection_Publish) \
    F(natsConnection_Status) \
    F(natsConnection_Subscribe) \
    F(natsMsg_Destroy) \
    F(natsMsg_GetData) \
    F(natsMsg_GetDataLength) \
    F(natsOptions_Create) \
    F(natsOptions_Destroy) \
    F(natsOptions_LoadCATrustedCertificates) \
    F(natsOptions_LoadCertificatesChain) \
    F(natsOptions_SetAllowReconnect) \
    F(natsOptions_SetExpectedHostname) \
    F(natsOptions_SetMaxPingsOut) \
    F(natsOptions_SetName) \
    F(natsOptions_SetNoEcho) \
    F(natsOptions_SetPingInterval) \
    F(natsOptions_SetSecure) \
    F(natsOptions_SetSendAsap) \
    F(natsOptions_SetTimeout) \
    F(natsOptions_SetURL) \
    F(natsOptions_SetUserCredentialsFromFiles) \
    F(natsOptions_SetUserInfo) \
    F(natsOptions_SetWriteDeadline) \
    F(natsOptions_UseGlobalMessageDelivery) \
    F(natsStatus_GetText) \
    F(natsSubscription_Destroy) \
    F(natsSubscription_SetOnCompleteCB) \
    F(natsSubscription_SetPendingLimits) \
    F(natsSubscription_Unsubscribe) \
    F(nats_GetLastError)

TENFOUR_ON_DEMAND(tenfour_nats, TENFOUR_NATS)

#endif
