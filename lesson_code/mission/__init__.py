"""The mission "The optimizer memory tax and the MFU gap": what is measured beside its model."""
