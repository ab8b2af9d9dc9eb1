"""Files damaged by chance, and what reads them: each is taken in, or refused in one sentence."""
