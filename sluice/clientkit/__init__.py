"""What commands and other programs of users share: connections, transfer of files, and output.

Packs may use all modules of this package. A program connects to a system
(``sluice.clientkit.connection``), uploads files and fetches results (``transfer``), and waits for
chains (``watch``).
"""
