"""The APIs of models, an adapter each, and the choice between them."""
