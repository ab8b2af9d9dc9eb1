"""The numbers of the site: what was measured, recorded, cited and computed, and one owner of each.

The benchmark job writes here and the site reads here; nothing here needs PyTorch or knows a page.
"""
