"""Definitions of tools as each provider wants them, and what is lost on the way.

A format is a plain dictionary; no SDK is needed to make one. Nothing is cut silently: whatever
a definition does not say anymore is reported as a Loss.
"""
