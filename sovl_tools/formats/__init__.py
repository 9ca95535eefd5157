"""Definitions of tools in each provider's format, and the losses of the conversion.

A format is a plain dictionary; no SDK is needed to make one. Losses are never silent: everything
a definition does not say anymore is reported as a Loss.
"""
