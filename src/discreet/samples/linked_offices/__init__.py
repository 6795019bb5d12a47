"""Files of two offices about one population, to link: people, health, languages, cards and tables of keys."""
