"""The page *Forecast your GPU*, and the file from which browsers forecast for the reader's card."""
