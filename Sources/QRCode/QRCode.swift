// QR codes of short texts, and how a terminal shows them.
// Never knows what a text means.
