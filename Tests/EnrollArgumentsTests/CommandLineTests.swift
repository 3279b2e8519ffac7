// Command lines as values: commands, options and operands, read, explained and completed from one description.
