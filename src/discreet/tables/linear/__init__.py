"""The linear side of a table: its layout, which margins to measure, estimates of all cells, figures that add up."""
