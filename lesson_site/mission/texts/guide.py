"""The sentences of the guide."""

MESSAGES: dict[str, str] = {
    "recorded.1": "Prediction recorded. Training Memory Ledger unlocked.",
    "reset.1.title": "Reset Act 1?",
    "reset.1.says": "This clears your first prediction, the ledger’s settings, the reveal, both "
    "trade-off decisions with your reason, and the reflection of Act 1. Act 2 is locked again; "
    "what you did there is kept.",
    "reset.1.do": "Reset Act 1",
    "reset.1.done": "Act 1 is reset.",
    "reset.2.title": "Reset Act 2?",
    "reset.2.says": "This clears your second prediction, the analyzer’s settings and the recorded "
    "configuration, the laptop challenge and the reflection of Act 2. Act 1 stays as it is.",
    "reset.2.do": "Reset Act 2",
    "reset.2.done": "Act 2 is reset.",
    "reset.all.title": "Reset the mission?",
    "reset.all.says": "This clears both acts, in this browser, for good. Export your design ledger "
    "first if you may want it back.",
    "reset.all.do": "Reset mission",
    "reset.all.done": "The mission is reset.",
    "reset.decision": "Also remove the decision from my design ledger",
}
