"""What other places show of a page: a shared link's words and picture, and a search engine's."""
