"""How well others find what answers a question: the same texts and questions through each."""
