"""The code behind the pages about measuring: the speed ladder, and right and wrong clocks."""
