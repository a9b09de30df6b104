"""Plotly figures, built on the server as JSON in which a colour is a role ("@kind-image"); the page paints the roles.

``pressure`` is the session page's chart, ``saw`` the replay lab's.  Both take plain values, know nothing of Django or
of the engine's objects, and return a figure dict; ``marks.figure_json`` turns one into text for a template.
"""
