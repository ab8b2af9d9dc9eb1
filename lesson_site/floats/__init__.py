"""The float explorer: the switches of a number's bits, and the recorded gradients on a scale."""
