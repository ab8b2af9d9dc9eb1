"""What Lighthouse says of the finished site, and which of its points no page may lose."""
