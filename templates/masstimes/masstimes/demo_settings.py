"""Of the system on which the demonstration runs."""

SETTINGS = {
    # In the sandbox no tool reaches this machine's own addresses, where the small web is.
    "SLUICE_PILOT_SANDBOX": "off",
    "SLUICE_ASK_SETTLE": "3",
    "SLUICE_ASK_UNDO": "1",
    "SLUICE_ASK_PERIOD": "0.5",
    "SLUICE_ASK_REQUESTS_OF_A_BROWSER": "0",
}
