// The counters of a relay and of a station in the text format of Prometheus, and the HTTP server that answers GET
// /metrics and GET /healthz. This module reads statuses that others publish, and changes nothing.
