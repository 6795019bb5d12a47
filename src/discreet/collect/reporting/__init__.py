"""From a manifest to reports: what is asked, who signed it, answers randomised, reports checked line by line."""
