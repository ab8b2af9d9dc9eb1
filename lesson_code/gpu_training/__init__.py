"""The lesson "GPU Training": one module for each idea, named like its page."""
