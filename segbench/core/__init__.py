"""What every package builds on: metrics, protocols, samples, counts that add, messages.

Values and arrays of callers enter and are checked (`settings`, `arrays`). What leaves are the frozen types that
packages hand to each other: `Sample`, `Counts`, `Message` and `Note`, `Metric` and `Summary`. Begin with `protocol`,
which says what a protocol is, and `table`, where counts become metrics; a protocol of your own derives from both.
"""
