"""The cells of an answer: outputs worked out of noisy measures, with intervals, in the order that was asked for."""
