// Bytes over HTTP by libcurl on the loop of the network.
