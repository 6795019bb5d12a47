"""Running a study: tasks over processes, what they found, and the folder that keeps it."""
