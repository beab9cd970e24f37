"""Parts of pages that list many things, filter them and open one of them at a time."""
