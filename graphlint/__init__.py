"""graphlint: finds the places where a MindSpore graph breaks or silently differs from PyNative."""

__version__ = "0.1.0"
