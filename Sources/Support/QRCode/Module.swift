// QR codes of texts, by libqrencode. This module draws a code for a terminal and as SVG, and does not know what it says.
