"""The figures of a run's page, described for plotly.js. Pure: no Django, no drawing.

Figures name colours by role (``--chart-1``); the page looks them up in ``tokens.css``
and so follows the theme. Titles, last values and legends are HTML around the figure.
"""
