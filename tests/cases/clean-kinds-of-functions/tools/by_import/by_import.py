from .parts import by_import

__all__ = ['by_import']
