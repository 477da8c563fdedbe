"""The settings of the system of the demonstration."""

SETTINGS = {
    # Tools in the sandbox cannot reach the small web on this machine's own addresses.
    "SLUICE_PILOT_SANDBOX": "off",
    "SLUICE_ASK_SETTLE": "3",
    "SLUICE_ASK_UNDO": "1",
    "SLUICE_ASK_PERIOD": "0.5",
    "SLUICE_ASK_REQUESTS_OF_A_BROWSER": "0",
}
